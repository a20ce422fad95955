import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HgError } from '@quicksilver/hg-types';
import { lockFileSystem } from '@quicksilver/native';
import { type Access, hasErrno, makeDirectory, syncDirectory } from './durable.ts';
import { isCount, isObject } from './lane/record.ts';
import { VOLUME_FOLDERS, VolumePaths } from './layout.ts';

const VERSION = 1;
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A directory tree that holds mirrors. Nothing about it is kept in memory but where it is and what it is called. */
export class Volume {
  readonly name: string;
  readonly root: string;
  readonly paths: VolumePaths;
  /** True on a file system that other hosts may mount as well: a boot of this machine then says little about it. */
  readonly network: boolean;

  /** Given to every directory and file that is written for readers. */
  readonly access: Access;

  private constructor(name: string, root: string, more: { network: boolean; access: Access }) {
    this.name = name;
    this.root = root;
    this.network = more.network;
    this.access = more.access;
    this.paths = new VolumePaths(root);
  }

  /** Makes a volume, or opens the one that is there if its name is the same. Safe to run twice and at once. */
  static async init(path: string, options: { readonly name: string; readonly access?: Access }): Promise<Volume> {
    const { name, access } = options;
    if (!NAME.test(name)) {
      throw new HgError('HG_USAGE', 'a volume is named by lower-case letters, digits and "-"', { name });
    }
    const root = resolve(path);
    await mkdir(root, { recursive: true });
    const description = new VolumePaths(root).description;
    if ((await readDescription(description)) === undefined) await describe(description, name);
    const volume = await Volume.open(root, { access });
    if (volume.name !== name) {
      throw new HgError('HG_EXISTS', 'the directory is a volume of another name', { path: root, name: volume.name });
    }
    return volume;
  }

  static async open(path: string, options: { readonly access?: Access | undefined } = {}): Promise<Volume> {
    const { access = {} } = options;
    const root = await realpath(resolve(path)).catch((err: unknown) => {
      throw hasErrno(err, 'ENOENT', 'ENOTDIR') ? noVolume(path) : err;
    });
    const name = await readDescription(new VolumePaths(root).description);
    if (name === undefined) throw noVolume(root);
    const fileSystem = lockFileSystem(root);
    if (fileSystem.nfs && fileSystem.localLocks) {
      // Two hosts would both hold the lane of one mirror.
      throw new HgError('HG_POLICY', 'locks on this mount are not seen by other hosts (nolock, local_lock)', {
        path: root,
        type: fileSystem.type,
      });
    }
    for (const folder of VOLUME_FOLDERS) await makeDirectory(join(root, folder), access);
    return new Volume(name, root, { network: fileSystem.nfs, access });
  }
}

function noVolume(path: string): HgError {
  return new HgError('HG_NOT_FOUND', 'no volume: volume.json is missing ("quicksilver volume init" makes one)', {
    path,
  });
}

async function readDescription(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (err) {
    if (hasErrno(err, 'ENOENT')) return undefined;
    throw err;
  }
  const value: unknown = parseJson(text, path);
  if (!isObject(value) || !isCount(value.v))
    throw new HgError('HG_CORRUPT', 'volume.json describes no volume', { path });
  if (value.v > VERSION) {
    throw new HgError('HG_UNSUPPORTED', 'the volume was laid out by a newer version', { path, version: value.v });
  }
  if (typeof value.name !== 'string' || !NAME.test(value.name)) {
    throw new HgError('HG_CORRUPT', 'volume.json has no valid name', { path });
  }
  return value.name;
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (err) {
    throw new HgError('HG_CORRUPT', 'volume.json is not JSON', { path }, err);
  }
}

/** Written beside its place and linked there: of two that start at once the first wins, and both see its name. */
async function describe(path: string, name: string): Promise<void> {
  const part = `${path}.${randomUUID()}`;
  try {
    {
      await using file = await open(part, 'wx');
      await file.writeFile(`${JSON.stringify({ v: VERSION, name, created: new Date().toISOString() })}\n`);
      await file.sync();
    }
    await link(part, path).catch(async (err: unknown) => {
      if (hasErrno(err, 'EEXIST')) return;
      if (!hasErrno(err, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS')) throw err;
      await rename(part, path); // a file system without hard links
    });
    await syncDirectory(join(path, '..'));
  } finally {
    await rm(part, { force: true });
  }
}
