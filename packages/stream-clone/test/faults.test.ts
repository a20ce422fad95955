import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import {
  canInjectFaults,
  canMountDisk,
  type FaultRule,
  faultEnv,
  type SpawnNodeOptions,
  seededRandom,
  smallDisk,
  spawnNode,
  tmpDir,
  treeHash,
} from '@quicksilver/testing';
import type { WriteReceipt } from '../src/types.ts';
import { apply } from './support/apply.ts';
import { indexBytes, save, streamBundle } from './support/bundles.ts';

const CHILD = fileURLToPath(new URL('./support/apply-child.ts', import.meta.url));

interface Outcome {
  readonly receipt?: WriteReceipt;
  readonly fault?: { readonly code: string; readonly where: Readonly<Record<string, string | number>> };
}

/** Small files around one that is several times larger than the memory that the engine is given. */
function sampleBundle(): Buffer {
  const random = seededRandom(11);
  const small = Array.from({ length: 150 }, (_, i) => ({
    name: `data/d${i % 7}/file${i}.i`,
    bytes: indexBytes(random.int(70, 3_000), i & 0xff),
  }));
  small.splice(60, 0, { name: 'data/d3/big.i', bytes: indexBytes(300_000, 9) });
  return streamBundle(small, { chunkSize: 32_768 });
}

/** Whatever happens, the child ends by itself, in time, and says one thing. */
async function run(args: readonly string[], options: SpawnNodeOptions = {}): Promise<Outcome> {
  const child = await spawnNode(CHILD, { args, deadline: 20_000, ...options });
  expect(child).toMatchObject({ timedOut: false, code: 0, signal: null });
  return JSON.parse(child.stdout) as Outcome;
}

const FILE = { file: expect.stringMatching(/^\.hg\/store\/data\//) };

const CLOSERS = {
  backgroundClose: 'on',
  backgroundCloseMinFileCount: 0,
  backgroundCloseThreadCount: 3,
  backgroundCloseMaxQueue: 16,
} as const;

describe.each([
  [1, 'no closers', {}],
  [4, 'no closers', {}],
  [1, 'closers', CLOSERS],
  [8, 'closers', CLOSERS],
])('faults with %i writers, %s and less memory than a file', (writers, _closers, closing) => {
  const how = [String(writers), JSON.stringify(closing)];
  const dir = tmpDir('stream-faults');
  const bundle = save(dir, sampleBundle());
  afterAll(() => dir[Symbol.dispose]());

  const injected = canInjectFaults() ? it : it.skip;

  injected.each<[string, FaultRule, string]>([
    ['a full disk', { kind: 'write', nth: 40, errno: 'ENOSPC' }, 'HG_NO_SPACE'],
    ['a disk that fills up inside the big file', { kind: 'write', room: 250_000, errno: 'ENOSPC' }, 'HG_NO_SPACE'],
    ['a disk error', { kind: 'write', nth: 90, errno: 'EIO' }, 'HG_IO'],
    ['a disk error that shows at a close', { kind: 'close', nth: 120, errno: 'EIO' }, 'HG_IO'],
    ['too many open files', { kind: 'open', nth: 100, errno: 'EMFILE' }, 'HG_TOO_MANY_FILES'],
    ['a target that is read-only', { kind: 'open', nth: 1, errno: 'EROFS' }, 'HG_READ_ONLY'],
  ])('%s is one typed error that names the file', async (_, rule, code) => {
    using target = tmpDir();
    const { fault } = await run([bundle, target.path, ...how], {
      env: faultEnv([{ ...rule, path: target.path }]),
    });
    expect(fault).toMatchObject({ code, where: FILE });
    expect(existsSync(target.join('.hg/requires'))).toBe(false);
  });

  injected('a disk error in the last files, which the engine makes, is one too', async () => {
    using target = tmpDir();
    const rule: FaultRule = { kind: 'write', has: '/requires', nth: 2, errno: 'EIO', path: target.path };
    const { fault } = await run([bundle, target.path, ...how], { env: faultEnv([rule]) });
    expect(fault).toMatchObject({ code: 'HG_IO', where: { file: '.hg/requires' } });
  });

  injected('an error while reading the source names the source and the place', async () => {
    using target = tmpDir();
    const rule: FaultRule = { kind: 'read', path: bundle, nth: 12, errno: 'EIO' };
    const { fault } = await run([bundle, target.path, ...how], { env: faultEnv([rule]) });
    expect(fault).toMatchObject({ code: 'HG_IO', where: { file: bundle, offset: expect.any(Number) } });
  });

  injected('a source that may not be read is not taken for a target that may not be written', async () => {
    using target = tmpDir();
    const rule: FaultRule = { kind: 'open', path: bundle, errno: 'EACCES' };
    const { fault } = await run([bundle, target.path, ...how], { env: faultEnv([rule]) });
    expect(fault).toMatchObject({ code: 'HG_NOT_FOUND', where: { file: bundle } });
  });

  injected('writes and reads of one byte each make the same tree', async () => {
    using target = tmpDir();
    const rules: FaultRule[] = [
      { kind: 'write', short: 1, path: target.path },
      { kind: 'read', short: 1_000, path: bundle },
    ];
    const { receipt } = await run([bundle, target.path, ...how], { env: faultEnv(rules) });
    using plain = await apply(bundle);
    expect(receipt?.bytes).toBe(plain.receipt.bytes);
    expect(await treeHash(target.path)).toBe(await treeHash(plain.root));
  });

  it('the size limit of the process is one typed error', async () => {
    using target = tmpDir();
    const wrapper = ['sh', '-c', 'ulimit -f 160 && exec "$@"', 'sh'];
    const { fault } = await run([bundle, target.path, ...how], { wrapper });
    expect(fault).toMatchObject({
      code: 'HG_FILE_LIMIT',
      where: { file: '.hg/store/data/d3/big.i', offset: expect.any(Number) },
    });
  });

  it('a root that is renamed away in the middle is one typed error, and is not made anew', async () => {
    using target = tmpDir();
    mkdirSync(target.join('root'));
    const { fault } = await run([bundle, target.join('root'), ...how, target.join('gone')]);
    expect(fault).toMatchObject({ code: 'HG_TARGET_GONE' });
    expect(existsSync(target.join('root'))).toBe(false);
  });

  (canMountDisk() ? it : it.skip)(
    'K043: a disk that fills works again once there is room (needs root for a tmpfs)',
    async () => {
      using disk = smallDisk({ bytes: 1_600_000 });
      writeFileSync(disk.join('ballast'), Buffer.alloc(1_000_000));
      // The bytes fit, but each small file takes a page.
      const { fault } = await run([bundle, mkdir(disk.join('first')), ...how]);
      expect(fault).toMatchObject({ code: 'HG_NO_SPACE', where: { file: expect.any(String) } });
      rmSync(disk.join('ballast'));
      rmSync(disk.join('first'), { recursive: true });
      expect(await run([bundle, mkdir(disk.join('second')), ...how])).toHaveProperty('receipt');
    },
  );

  (canMountDisk() ? it : it.skip)('a read-only volume is one typed error (needs root for a tmpfs)', async () => {
    using disk = smallDisk({ bytes: 8 << 20 });
    const root = mkdir(disk.join('root'));
    disk.readOnly(true);
    expect(await run([bundle, root, ...how])).toMatchObject({ fault: { code: 'HG_READ_ONLY' } });
  });

  it('K090: a cancel ends it in the middle', async () => {
    const controller = new AbortController();
    const onProgress = (): void => controller.abort(new Error('enough'));
    const settings = {
      writers,
      threads: 'always',
      memoryTarget: 65_536,
      ...closing,
      signal: controller.signal,
      onProgress,
    } as const;
    const started = performance.now();
    await expect(apply(bundle, settings)).rejects.toMatchObject({ code: 'HG_CANCELLED' });
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

function mkdir(path: string): string {
  mkdirSync(path);
  return path;
}
