import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { canMountDisk, faultEnv, smallDisk, waitFor, writeSyntheticBundle } from '@quicksilver/testing';
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
  it.each([
    {
      what: 'EIO on a write, once',
      rule: { kind: 'write', has: '/store/data/', nth: 40, errno: 'EIO' },
      ends: 'ready',
    },
    {
      what: 'EMFILE on an open, once',
      rule: { kind: 'open', has: '/store/data/', nth: 20, errno: 'EMFILE' },
      ends: 'ready',
    },
    {
      what: 'EROFS on every open',
      rule: { kind: 'open', has: '/store/data/', from: 1, errno: 'EROFS' },
      ends: 'failed',
    },
    {
      what: 'EFBIG on a write',
      rule: { kind: 'write', has: '/store/data/', from: 10, errno: 'EFBIG' },
      ends: 'failed',
    },
  ] as const)('$what: the task ends as $ends, and nothing is half done', async ({ what, rule, ends }) => {
    await using site = await Deployment.start({
      writerEnv: faultEnv([rule], `/tmp/qs-counts-${process.pid}-${rule.errno}`),
    });
    const bundle = writeSyntheticBundle(join(site.sources, 'b.hg'), { files: 100, fileSize: 500 });
    const posted = await site.client.create('m', bundle.path);
    const task = await site.client.settled(posted.body.task.id);
    table.add(what, `${task.outcome}${task.problem ? ` as ${task.problem.code}` : ', by the next attempt'}`);
    expect(task).toMatchObject({ outcome: ends });
    const { generations } = await published(site.volume, 'm');
    expect(generations).toEqual(ends === 'ready' ? [1] : []);
    await expectNothingLeft(site);
    rmSync(`/tmp/qs-counts-${process.pid}-${rule.errno}`, { force: true });
  });
});

/** Writes until the disk is full. */
function fill(path: string, step: number): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(step), { flag: 'a' });
  } catch {
    // Full.
  }
}
