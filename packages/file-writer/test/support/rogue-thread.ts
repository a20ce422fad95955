/** A thread that ends in the way it is asked to. */
import { workerData } from 'node:worker_threads';
import { serveThread } from '../../src/thread-side.ts';

serveThread(() => {
  switch (workerData) {
    case 'exit':
      process.exit(7);
      break;
    case 'throw-later':
      setImmediate(() => {
        throw new TypeError('later');
      });
      break;
    case 'memory': {
      const hoard: unknown[] = [];
      while (performance.now() > 0) hoard.push(Array.from({ length: 10_000 }, (_, i) => i + hoard.length));
      break;
    }
    case 'hang':
      while (performance.now() > 0) Atomics.load(new Int32Array(1), 0);
      break;
    default:
      throw new Error('refused');
  }
});
