/** Entry of a writer thread: runs the batches it is sent, in order, then says what it has written. */
import { parentPort, workerData } from 'node:worker_threads';
import { BatchWriter, type CloseLine } from './batch-writer.ts';
import { CloseQueue } from './close-queue.ts';
import { SharedBlocks } from './shared-blocks.ts';
import { serveThread } from './thread-side.ts';
import { COUNTER, type WriteCommand, type WriteReply, type WriteThreadData } from './write-messages.ts';

const { blocks, options, counters, closing } = workerData as WriteThreadData;
const counts = new Float64Array(counters);
const line: CloseLine | undefined = closing && {
  queue: CloseQueue.attach(closing.queue),
  held: (fd) => {
    counts[COUNTER.fd] = fd;
  },
  onSlow: closing.watch
    ? (median) => parentPort?.postMessage({ kind: 'slow', median } satisfies WriteReply)
    : undefined,
};
const writer = new BatchWriter(SharedBlocks.attach(blocks), options, line);
process.once('exit', () => writer[Symbol.dispose]());

serveThread<WriteCommand, WriteReply>((message, port) => {
  switch (message.kind) {
    case 'batch':
      try {
        writer.run(message.batch);
      } catch (err) {
        writer[Symbol.dispose](); // nobody else closes what is open
        throw err;
      }
      counts[COUNTER.files] = writer.tally.files;
      counts[COUNTER.bytes] = writer.tally.bytes;
      counts[COUNTER.cost] = (counts[COUNTER.cost] ?? 0) + message.cost;
      break;
    case 'finish':
      port.post({ kind: 'tally', tally: writer.report });
      port.close();
      break;
  }
});
