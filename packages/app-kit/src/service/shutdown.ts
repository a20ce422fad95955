import type { Logger } from 'pino';

export interface ShutdownOptions {
  readonly close: () => Promise<unknown>;
  readonly logger: Logger;
  /** Milliseconds that draining may take; what comes after is given a little longer, then the process ends. */
  readonly grace: number;
  readonly exit?: (code: number) => void;
}

/** Time after the grace for handing back and closing connections. */
const AFTER_GRACE_MS = 10_000;

/**
 * SIGTERM and SIGINT: drain, then exit 0. Nest's own hooks are not used: they raise the signal again after closing,
 * so that a clean stop would look like a crash to a supervisor (exit 143).
 * @returns a function that takes the handlers off
 */
export function installShutdown(options: ShutdownOptions): () => void {
  const { close, logger, grace, exit = (code) => process.exit(code) } = options;
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal, grace }, 'draining');
    const late = setTimeout(() => {
      logger.error('draining took too long, leaving');
      exit(1);
    }, grace + AFTER_GRACE_MS);
    close().then(
      () => {
        clearTimeout(late);
        logger.info('drained');
        exit(0);
      },
      (err: unknown) => {
        logger.error({ err }, 'draining failed');
        exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return () => {
    process.off('SIGTERM', stop);
    process.off('SIGINT', stop);
  };
}
