import { join } from 'node:path';
import { waitFor, writeSyntheticBundle } from '@quicksilver/testing';
import { Deployment } from './harness/deployment.ts';
import { staging } from './harness/volume-view.ts';

const N = 12;
const site = await Deployment.start({
  env: { QUICKSILVER_LOCK_DURATION: '30000', QUICKSILVER_STALLED_INTERVAL: '15000' },
  writerEnv: { QUICKSILVER_CONCURRENCY: String(N) },
  slowOpens: 200,
});
try {
  const bundle = writeSyntheticBundle(join(site.sources, 's.hg'), { files: 40000, fileSize: 500 });
  const ids: string[] = [];
  for (let i = 0; i < N; i++) ids.push((await site.client.create(`m${i}`, bundle.path)).body.task.id);
  await waitFor(() => staging(site.volume).length >= N, { deadline: 60000 });
  await new Promise((r) => setTimeout(r, 30000));
  const asked = performance.now();
  const took = await Promise.all(
    ids.map(async (id) => {
      await site.client.cancel(id);
      const t = await site.client.settled(id, 60000);
      return [t.outcome, Math.round(performance.now() - asked)];
    }),
  );
  console.log(JSON.stringify(took));
} finally {
  await site[Symbol.asyncDispose]();
}
