import { createServer } from 'node:net';
import { delimiter } from 'node:path';
import { AdvisedError } from '../cli/faults.ts';
import type { DataDir } from './data-dir.ts';

export const DEFAULT_PORT = 7080;
const DEFAULT_BIND = '127.0.0.1';

export interface UpSettings {
  readonly bind: string;
  readonly port: number;
  /** Undefined: the one that `up` makes in its data directory. */
  readonly givenVolumes: string | undefined;
  readonly givenRedis: string | undefined;
  readonly grace: number;
  readonly sourceRoots: string;
}

export function readUpSettings(
  env: NodeJS.ProcessEnv,
  asked: { readonly port?: number | undefined; readonly sourceRoots?: readonly string[] | undefined },
): UpSettings {
  const roots = [...(env.QUICKSILVER_SOURCE_ROOTS ?? '').split(delimiter), ...(asked.sourceRoots ?? [])];
  return {
    bind: env.QUICKSILVER_BIND || DEFAULT_BIND,
    port: asked.port ?? portFrom(env.QUICKSILVER_PORT),
    givenVolumes: env.QUICKSILVER_VOLUMES || undefined,
    givenRedis: env.REDIS_URL || undefined,
    grace: graceFrom(env.QUICKSILVER_GRACE),
    sourceRoots: [...new Set(roots.filter((root) => root !== ''))].join(delimiter),
  };
}

function portFrom(text: string | undefined): number {
  if (!text) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new AdvisedError('HG_USAGE', 'QUICKSILVER_PORT cannot be used', { advice: 'It is 0 to 65535.' });
}

const DEFAULT_GRACE = 8000;
/** Only digits count here; the services refuse all else by name. */
function graceFrom(text: string | undefined): number {
  return text && /^\d{1,9}$/.test(text) ? Number(text) : DEFAULT_GRACE;
}

/** What all services get beside the caller's environment. */
export function serviceEnv(env: NodeJS.ProcessEnv, dir: DataDir, plan: UpSettings & { redis: string }) {
  return {
    ...env,
    REDIS_URL: plan.redis,
    QUICKSILVER_VOLUMES: plan.givenVolumes ?? `main=${dir.volume}`,
    QUICKSILVER_DATABASE: env.QUICKSILVER_DATABASE || dir.database,
    QUICKSILVER_SOURCE_ROOTS: plan.sourceRoots,
    QUICKSILVER_BIND: plan.bind,
    QUICKSILVER_PARENT: String(process.pid),
    // Writer and closer say their health on any free port; the API's is set apart.
    QUICKSILVER_PORT: '0',
    QUICKSILVER_HEALTH_PORT: '0',
  };
}

/** Asked before anything is started: a service that dies of it in the background would be the worse message. */
export async function refuseTakenPort(port: number, bind: string): Promise<void> {
  if (port === 0) return;
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (err: NodeJS.ErrnoException) => {
      const taken = err.code === 'EADDRINUSE';
      reject(
        new AdvisedError('HG_POLICY', taken ? 'the port is taken' : 'the port cannot be used', {
          where: { address: `${bind}:${port}`, ...(taken ? {} : { why: err.code ?? err.message }) },
          advice: 'Give another with --port (0: any free one), or stop what listens there.',
          cause: err,
        }),
      );
    });
    probe.listen(port, bind, () => probe.close(() => resolve()));
  });
}
