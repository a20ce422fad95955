import { readFileSync, statfsSync, statSync } from 'node:fs';

export interface FileSystemFacts {
  /** As in /proc/self/mountinfo ("ext4", "tmpfs", "nfs4"), or the magic number in hex where that is all there is. */
  readonly type: string;
  readonly nfs: boolean;
  /** True when other hosts that mount the same file system do not see the locks taken here. */
  readonly localLocks: boolean;
}

const NFS_MAGIC = 0x6969;

export interface Mount {
  readonly device: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** Layout: man proc_pid_mountinfo. Optional fields end at a lone "-"; then type, source, options of the super block. */
export function parseMountInfo(text: string): Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split('\n')) {
    const fields = line.split(' ');
    const dash = fields.indexOf('-', 6);
    const device = fields[2];
    const type = fields[dash + 1];
    if (dash === -1 || device === undefined || type === undefined) continue;
    mounts.push({ device, type, options: [...(fields[5] ?? '').split(','), ...(fields[dash + 3] ?? '').split(',')] });
  }
  return mounts;
}

/** An NFS mount with `nolock` or `local_lock=flock|all` keeps flock on this host: two hosts would hold one lock. */
export function fileSystemFacts(mount: Mount): FileSystemFacts {
  const nfs = mount.type === 'nfs' || mount.type === 'nfs4';
  const local = mount.options.some((option) => /^(nolock|local_lock=(flock|all))$/.test(option));
  return { type: mount.type, nfs, localLocks: !nfs || local };
}

/** Device numbers as mountinfo prints them; the split of bits is the kernel's own (makedev). */
function deviceName(dev: number): string {
  const n = BigInt(dev);
  const major = ((n >> 8n) & 0xfffn) | ((n >> 32n) & ~0xfffn);
  const minor = (n & 0xffn) | ((n >> 12n) & ~0xffn & 0xffffffffn);
  return `${major}:${minor}`;
}

/** Which file system a path lies on, and whether locks on it are seen by every host that mounts it. */
export function lockFileSystem(path: string): FileSystemFacts {
  const device = deviceName(statSync(path).dev);
  try {
    const mount = parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8')).find((m) => m.device === device);
    if (mount) return fileSystemFacts(mount);
  } catch {
    // Not Linux, or /proc is not mounted: the magic number below is what is left.
  }
  const magic = statfsSync(path).type;
  // Without mount options an NFS must be taken for one whose locks are local: refusing is safe, trusting is not.
  return { type: `0x${magic.toString(16)}`, nfs: magic === NFS_MAGIC, localLocks: true };
}
