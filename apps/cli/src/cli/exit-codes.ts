import type { FaultRecord } from '@quicksilver/hg-types';

/** What the process says to scripts. Stopped by a signal: 128 and the signal's number, as shells do. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type StopSignal = keyof typeof SIGNAL_EXIT;
export const STOP_SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export function signalExit(signal: StopSignal): number {
  return SIGNAL_EXIT[signal];
}

export function exitFor(fault: FaultRecord, stoppedBy: StopSignal | undefined): number {
  if (fault.code === 'HG_CANCELLED' && stoppedBy) return signalExit(stoppedBy);
  return fault.code === 'HG_USAGE' ? EXIT.usage : EXIT.failed;
}
