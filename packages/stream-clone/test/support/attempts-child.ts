/** Makes several attempts one after the other in one process, and says how each ended and which files it left open. */
import { faultRecord } from '@quicksilver/hg-types';
import { applyStreamBundle } from '../../src/apply.ts';
import type { StreamCloneOptions } from '../../src/types.ts';
import { openBelow } from './open-below.ts';

export interface AttemptOrder {
  readonly bundle: string;
  readonly root: string;
  readonly settings: Partial<StreamCloneOptions>;
}

const [orders = '[]'] = process.argv.slice(2);

for (const { bundle, root, settings } of JSON.parse(orders) as AttemptOrder[]) {
  let outcome: object;
  try {
    const signal = AbortSignal.timeout(10_000);
    outcome = {
      receipt: await applyStreamBundle({ source: { kind: 'file', path: bundle }, root, signal, ...settings }),
    };
  } catch (err) {
    outcome = { fault: faultRecord(err) };
  }
  console.log(JSON.stringify({ ...outcome, left: openBelow(root) }));
}
