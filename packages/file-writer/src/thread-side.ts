import { parentPort } from 'node:worker_threads';
import { type FaultRecord, faultRecord, HgError } from '@quicksilver/hg-types';

/** The thread's end of an EngineThread. */

export interface FaultMessage {
  readonly kind: 'fault';
  readonly fault: FaultRecord;
}

export interface StopMessage {
  readonly kind: 'stop';
}

export const STOP: StopMessage = { kind: 'stop' };

export interface ThreadPort<Out> {
  post(message: Out): void;
  /** Nothing more will be said: the thread ends when nothing else keeps it alive. */
  close(): void;
}

/** Serves messages one by one until it is told to stop; the first throw is reported and ends the thread. */
export function serveThread<In extends { readonly kind: string }, Out>(
  handle: (message: In, port: ThreadPort<Out>) => void,
): void {
  const port = parentPort;
  if (port === null) throw new HgError('HG_INTERNAL', 'this module is the entry of a thread');
  const out: ThreadPort<Out> = { post: (message) => port.postMessage(message), close: () => port.close() };
  port.on('message', (message: In | StopMessage) => {
    if (isStop(message)) {
      port.close();
      return;
    }
    try {
      handle(message, out);
    } catch (err) {
      port.postMessage({ kind: 'fault', fault: faultRecord(err) } satisfies FaultMessage);
      port.close();
    }
  });
}

function isStop(message: { readonly kind: string }): message is StopMessage {
  return message.kind === 'stop';
}
