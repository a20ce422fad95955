/**
 * Entry of a closer thread: closes what comes through the queue until the end has come, then says how many. An error
 * is reported at once; what is left is closed all the same, since nobody else will.
 */
import { closeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { faultRecord } from '@quicksilver/hg-types';
import type { CloseReply, CloseThreadData } from './close-messages.ts';
import { CloseQueue } from './close-queue.ts';
import { SlowGauge } from './slow-gauge.ts';
import type { FaultMessage } from './thread-side.ts';
import { writeFault } from './write-fault.ts';

const { queue: handle, watch } = workerData as CloseThreadData;
const queue = CloseQueue.attach(handle);
const gauge = new SlowGauge();
let files = 0;
let failed = false;

queue.enter();
for (let file = queue.take(); file !== undefined; file = queue.take()) {
  const started = performance.now();
  try {
    closeSync(file.fd);
    files++;
  } catch (err) {
    if (!failed) {
      parentPort?.postMessage({
        kind: 'fault',
        fault: faultRecord(writeFault(err, file.where())),
      } satisfies FaultMessage);
    }
    failed = true;
  }
  file.release();
  if (!watch) continue;
  gauge.add(performance.now() - started);
  if (gauge.verdict === 'fast') {
    queue.active = false;
    gauge.reset();
  }
}
if (!failed) parentPort?.postMessage({ kind: 'closed', files } satisfies CloseReply);
