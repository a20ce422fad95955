import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  canMountDisk,
  faultCounts,
  faultEnv,
  smallDisk,
  type TmpDir,
  tmpDir,
  waitFor,
  writeSyntheticBundle,
} from '@quicksilver/testing';
import { Deployment } from '../harness/deployment.ts';
import { FaultTable } from '../harness/fault-table.ts';
import { expectNothingLeft, published } from '../harness/published.ts';
import { staging } from '../harness/volume-view.ts';

const MB = 1_000_000;
const table = new FaultTable('storage');
afterAll(() => void process.stdout.write(table.write()));

(canMountDisk() ? describe : describe.skip)('K043: a disk that is too small (needs root)', () => {
  it('is refused before writing, and works again once there is room', async () => {
    using disk = smallDisk({ bytes: 12 * MB });
    await using site = await Deployment.start({ volume: disk.path });
    const bundle = writeSyntheticBundle(join(site.sources, 'b.hg'), { files: 100, fileSize: 50_000 });
    writeFileSync(disk.join('ballast'), Buffer.alloc(8 * MB));
    const posted = await site.client.create('big', bundle.path);
    const task = await site.client.settled(posted.body.task.id);
    expect(task).toMatchObject({ outcome: 'failed', problem: { code: 'HG_NO_SPACE', class: 'storage' } });
    expect(Object.keys(task.problem?.where ?? {}).length).toBeGreaterThan(0);
    await expectNothingLeft(site);
    rmSync(disk.join('ballast'));
    const again = await site.client.clone('big');
    expect(await site.client.settled(again.body.task.id)).toMatchObject({ outcome: 'ready', generation: 1 });
    table.add('announced more than there is room', 'failed as HG_NO_SPACE, nothing left, worked after freeing');
  });

  it('that fills up halfway fails as what it is, leaves nothing, and works again', async () => {
    using disk = smallDisk({ bytes: 16 * MB });
    await using site = await Deployment.start({ volume: disk.path, slowOpens: 20_000 });
    const bundle = writeSyntheticBundle(join(site.sources, 'b.hg'), { files: 100, fileSize: 50_000 });
    const posted = await site.client.create('big', bundle.path);
    await waitFor(() => staging(site.volume).length > 0, { what: 'writing to begin' });
    // Somebody else takes the rest of the room meanwhile.
    fill(disk.join('ballast'), 64 * 1024);
    expect(await site.client.settled(posted.body.task.id)).toMatchObject({
      outcome: 'failed',
      problem: { code: 'HG_NO_SPACE', class: 'storage' },
    });
    rmSync(disk.join('ballast'));
    await expectNothingLeft(site);
    const again = await site.client.clone('big');
    expect(await site.client.settled(again.body.task.id)).toMatchObject({ outcome: 'ready' });
    table.add('disk filled halfway', 'failed as HG_NO_SPACE, nothing left, worked after freeing');
  });
});

describe('a disk with errors', () => {
  const FAULTS = [
    { what: 'EIO on a write, once', rule: { kind: 'write', nth: 40, errno: 'EIO' }, ends: 'ready' },
    { what: 'EMFILE on an open, once', rule: { kind: 'open', nth: 20, errno: 'EMFILE' }, ends: 'ready' },
    { what: 'EIO on a close, once', rule: { kind: 'close', nth: 30, errno: 'EIO' }, ends: 'ready' },
    { what: 'EROFS on every open', rule: { kind: 'open', from: 1, errno: 'EROFS' }, ends: 'failed' },
    { what: 'EFBIG on a write', rule: { kind: 'write', from: 10, errno: 'EFBIG' }, ends: 'failed' },
  ] as const;
  const folderOf = (i: number) => `fault${i}`;

  let site: Deployment;
  let counts: TmpDir;
  beforeAll(async () => {
    counts = tmpDir('counts');
    // One deployment for all: each fault is aimed at the files of one mirror.
    const rules = FAULTS.map(({ rule }, i) => ({ ...rule, has: `/store/data/${folderOf(i)}/` }));
    site = await Deployment.start({ writerEnv: faultEnv(rules, counts.join('counts')) });
  });
  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
    counts[Symbol.dispose]();
  });

  it.each(FAULTS.map((fault, i) => ({ ...fault, i })))(
    '$what: the task ends as $ends, and nothing is half done',
    async ({ what, ends, i }) => {
      const path = join(site.sources, `${folderOf(i)}.hg`);
      const bundle = writeSyntheticBundle(path, { files: 100, fileSize: 500, folder: folderOf(i) });
      const posted = await site.client.create(folderOf(i), bundle.path);
      const task = await site.client.settled(posted.body.task.id);
      table.add(what, `${task.outcome}${task.problem ? ` as ${task.problem.code}` : ', by the next attempt'}`);
      expect(task).toMatchObject({ outcome: ends });
      const { generations } = await published(site.volume, folderOf(i));
      expect(generations).toEqual(ends === 'ready' ? [1] : []);
      expect(faultCounts(counts.join('counts'), FAULTS.length)[i]?.faults).toBeGreaterThan(0);
      await expectNothingLeft(site);
    },
  );
});

/** Writes until the disk is full. */
function fill(path: string, step: number): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(step), { flag: 'a' });
  } catch {
    // Full.
  }
}
