import { randomUUID } from 'node:crypto';
import { runOperation } from './operations.ts';

/*
 * A process of its own for one operation on a volume, told by one JSON argument. `at` stops or kills it at a named
 * checkpoint; `hit` says at which passage.
 */
const order = JSON.parse(process.argv[2] ?? '{}') as {
  operation: string;
  input: unknown;
  at?: { checkpoint: string; signal: 'SIGKILL' | 'SIGSTOP'; hit?: number };
};
let passages = 0;
const checkpoint = (name: string): void => {
  if (name !== order.at?.checkpoint || ++passages !== (order.at.hit ?? 1)) return;
  process.stdout.write(`${JSON.stringify({ at: name })}\n`);
  process.kill(process.pid, order.at.signal);
};
try {
  const result = await runOperation(order.operation, order.input, checkpoint);
  process.stdout.write(`${JSON.stringify({ result: result ?? null })}\n`);
} catch (err) {
  const { code, message } = err as { code?: string; message: string };
  process.stdout.write(`${JSON.stringify({ error: { code: code ?? randomUUID(), message } })}\n`);
}
