import { describe, expect, it } from '@jest/globals';
import { realHg } from '@quicksilver/testing';
import { runJanitor } from '../src/janitor.ts';
import { scene, task } from './support/scene.ts';

const { signal } = new AbortController();

describe.each(realHg())('a reader with stock hg $version', (hg) => {
  it('sees one whole generation, before, during and after publication of the next', async () => {
    using s = await scene();
    await s.publish(task(1), s.bundle('gen1'));
    const path = s.volume.paths.link(s.mirror);
    // One process that opens the repository afresh for each command, over and over, while generations change.
    await using session = await hg.session();
    let running = true;
    const seen = new Set<string>();
    const reading = (async () => {
      while (running) {
        const { code, stdout } = await session.run(['-R', path, 'log', '-T', '{desc}\n']);
        expect(code).toBe(0);
        const lines = stdout.trim().split('\n');
        const labels = new Set(lines.map((line) => line.split(' ')[0]));
        expect(lines).toHaveLength(3);
        expect([...labels]).toHaveLength(1);
        for (const label of labels) seen.add(label ?? '');
      }
    })();
    for (let n = 2; n <= 8; n++) {
      await s.publish(task(n), s.bundle(`gen${n}`));
      // A day is longer than any of these commands: what they read stays.
      await runJanitor(s.volume, { signal, graceMs: 86_400_000 });
    }
    running = false;
    await reading;
    expect(seen.size).toBeGreaterThan(0);
  });

  it('that is under way stays on the generation it has opened', async () => {
    using s = await scene();
    await s.publish(task(1), s.bundle('gen1'));
    const path = s.volume.paths.link(s.mirror);
    // The hook runs after the repository was opened and its changelog read: meanwhile the link moves on.
    const marker = s.dir.join('opened');
    const go = s.dir.join('go');
    const wait = `touch ${marker}; while [ ! -e ${go} ]; do sleep 0.02; done`;
    const slow = hg.run(['-R', path, 'manifest', '--all', '--config', `hooks.pre-manifest=${wait}`]);
    const { access, writeFile } = await import('node:fs/promises');
    const { waitFor } = await import('@quicksilver/testing');
    await waitFor(() => access(marker).then(() => true));
    await s.publish(task(2), s.bundle('gen2'));
    await writeFile(go, '');
    const { code, stdout } = await slow;
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(12);
  });
});
