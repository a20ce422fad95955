import { type FaultRecord, faultRecord, HgError } from '@quicksilver/hg-types';
import { ALIVE_INTERVAL_MS, ENGINE_PROGRESS_MS, type FromEngine, isToEngine } from './protocol.ts';

export interface EngineContext {
  readonly signal: AbortSignal;
  /** As often as the engine likes; what is superseded within a moment is left out. */
  readonly onProgress: (value: unknown) => void;
  /** Told at once and never left out: for facts that must not wait for the end of the request. */
  readonly onEvent: (value: unknown) => void;
}

export type EngineHandler = (params: unknown, ctx: EngineContext) => Promise<unknown>;

interface Current {
  readonly id: number;
  readonly abort: AbortController;
}

/**
 * The engine's side of a slot: answers one request at a time until the service goes away.
 *
 * The process lives and dies with its service: it ends when the channel closes, and it leaves stop signals to the
 * service, which drains (a terminal's Ctrl-C reaches the whole process group).
 */
export function serveEngine(handlers: Readonly<Record<string, EngineHandler>>): void {
  let current: Current | undefined;

  process.on('disconnect', () => process.exit(0));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  // An error that nobody awaited leaves the engine in an unknown state: it is told, then the process is given up.
  process.on('uncaughtException', (err) => {
    process.stderr.write(`engine: uncaught ${err instanceof Error ? err.stack : String(err)}\n`);
    if (current) send({ type: 'failed', id: current.id, fault: faultRecord(err), rss: process.memoryUsage.rss() });
    setTimeout(() => process.exit(1), 20);
  });

  process.on('message', (message: unknown) => {
    if (!isToEngine(message)) return;
    if (message.type === 'abort') {
      if (current?.id === message.id) current.abort.abort(new HgError('HG_CANCELLED', 'the work was cancelled'));
      return;
    }
    const { id, request } = message;
    if (current) {
      answer(id, faultRecord(new HgError('HG_INTERNAL', 'the engine is busy', { running: current.id })));
      return;
    }
    current = { id, abort: new AbortController() };
    void work(current, handlers[request.method], request).finally(() => {
      current = undefined;
    });
  });
}

async function work(
  current: Current,
  handler: EngineHandler | undefined,
  request: { method: string; params: unknown },
): Promise<void> {
  const { id } = current;
  send({ type: 'alive', id });
  const alive = setInterval(() => send({ type: 'alive', id }), ALIVE_INTERVAL_MS);
  const progress = thinned((value) => send({ type: 'progress', id, value }));
  try {
    if (!handler) throw new HgError('HG_INTERNAL', 'the engine knows no such method', { method: request.method });
    const result = await handler(request.params, {
      signal: current.abort.signal,
      onProgress: progress.push,
      onEvent: (value) => send({ type: 'event', id, value }),
    });
    progress.flush();
    send({ type: 'done', id, result, rss: process.memoryUsage.rss() });
  } catch (err) {
    progress.flush();
    answer(id, faultRecord(err));
  } finally {
    clearInterval(alive);
  }
}

function answer(id: number, fault: FaultRecord): void {
  send({ type: 'failed', id, fault, rss: process.memoryUsage.rss() });
}

function send(message: FromEngine): void {
  // The callback takes errors of a channel that is closing; `disconnect` ends the process.
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

/** Passes the first value on, then the latest of each interval. */
function thinned(emit: (value: unknown) => void): { push: (value: unknown) => void; flush: () => void } {
  let last = 0;
  let pending: { value: unknown } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!pending) return;
    const { value } = pending;
    pending = undefined;
    last = Date.now();
    emit(value);
  };
  return {
    push: (value) => {
      pending = { value };
      const wait = last + ENGINE_PROGRESS_MS - Date.now();
      if (wait <= 0) flush();
      else timer ??= setTimeout(flush, wait);
    },
    flush,
  };
}
