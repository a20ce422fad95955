import type { FaultRecord } from '@quicksilver/hg-types';

/** What a service asks of an engine process. `params` crosses by structured clone: plain data and bytes. */
export interface EngineRequest {
  readonly method: string;
  readonly params: unknown;
}

/** Service to engine. One request at a time; `abort` names the request, so that a late one hits nothing. */
export type ToEngine =
  | { readonly type: 'run'; readonly id: number; readonly request: EngineRequest }
  | { readonly type: 'abort'; readonly id: number };

/**
 * Engine to service. `alive` says that the engine's main thread runs, whether or not there is progress; of `progress`
 * only the latest matters, an `event` always arrives.
 */
export type FromEngine =
  | { readonly type: 'alive'; readonly id: number }
  | { readonly type: 'progress'; readonly id: number; readonly value: unknown }
  | { readonly type: 'event'; readonly id: number; readonly value: unknown }
  | { readonly type: 'done'; readonly id: number; readonly result: unknown; readonly rss: number }
  | { readonly type: 'failed'; readonly id: number; readonly fault: FaultRecord; readonly rss: number };

export const ALIVE_INTERVAL_MS = 1000;
/** Progress is thinned out where it arises: a flood must not reach the loop that renews job locks. */
export const ENGINE_PROGRESS_MS = 100;

function isMessage(value: unknown): value is { type: unknown; id: number } {
  return (
    typeof value === 'object' && value !== null && 'type' in value && 'id' in value && typeof value.id === 'number'
  );
}

export function isToEngine(value: unknown): value is ToEngine {
  return isMessage(value) && (value.type === 'run' || value.type === 'abort');
}

export function isFromEngine(value: unknown): value is FromEngine {
  return isMessage(value) && ['alive', 'progress', 'event', 'done', 'failed'].includes(String(value.type));
}
