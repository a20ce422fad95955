import { isAbsolute } from 'node:path';
import { VolumeName } from '@quicksilver/jobs';
import { z } from 'zod';
import type { VolumeAccess } from '../engine/volume-access.ts';

/**
 * The settings that services share, as zod fields to spread into an app's own schema:
 * `z.object({ ...commonSettings, QUICKSILVER_DATABASE: z.string() })`. Messages never repeat a value.
 */

const digits = (what: string) => z.string().regex(/^\d{1,15}$/, `${what}, in digits`);

export const milliseconds = (fallback: number, least = 1) =>
  digits('milliseconds')
    .transform(Number)
    .refine((value) => value >= least, `at least ${least}`)
    .default(fallback);

export const wholeNumber = (least: number, most: number) =>
  digits('a whole number')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `${least} to ${most}`);

/** A file mode as chmod writes it: 644, 0750. */
export const octalMode = z
  .string()
  .regex(/^0?[0-7]{3,4}$/, 'a mode in octal digits, such as 644')
  .transform((text) => Number.parseInt(text, 8));

/** `33:33`: who owns what is written, by number, so that a web server under another user can read it. */
export const ownerIds = z
  .string()
  .regex(/^\d{1,10}:\d{1,10}$/, 'user and group by number, such as 33:33')
  .transform((text) => {
    const [uid, gid] = text.split(':').map(Number);
    return { uid: uid ?? 0, gid: gid ?? 0 };
  });

export const port = (fallback: number) => wholeNumber(0, 65_535).default(fallback);

export const flag = z
  .enum(['0', '1', 'true', 'false'], '1 or 0')
  .transform((value) => value === '1' || value === 'true')
  .default(false);

/** redis://, rediss://, unix:///path or a plain absolute path of a socket. */
export const redisUrl = z.string().refine(isRedisUrl, 'redis://, rediss://, unix:///path or an absolute path');

function isRedisUrl(text: string): boolean {
  if (text.startsWith('/')) return true;
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.protocol === 'unix:') return url.pathname.length > 1;
  return url.protocol === 'redis:' || url.protocol === 'rediss:';
}

export interface VolumeSetting {
  readonly name: string;
  readonly path: string;
}

/** `main=/srv/mirrors,spare=/mnt/spare` */
export const volumes = z.string().transform((text, ctx): VolumeSetting[] => {
  const found = text.split(',').map((entry) => {
    const at = entry.indexOf('=');
    return { name: entry.slice(0, Math.max(at, 0)).trim(), path: entry.slice(at + 1).trim() };
  });
  const names = new Set(found.map(({ name }) => name));
  const wrong = found.some(({ name, path }) => !VolumeName.safeParse(name).success || !isAbsolute(path));
  if (wrong) ctx.addIssue({ code: 'custom', message: 'name=/absolute/path, separated by ","' });
  if (names.size !== found.length) ctx.addIssue({ code: 'custom', message: 'a volume is named twice' });
  return found;
});

/** Directories separated by ':'; none by default, so that no local path is a source. */
export const directories = z
  .string()
  .transform((text) => text.split(':').filter((dir) => dir !== ''))
  .refine((dirs) => dirs.every((dir) => isAbsolute(dir)), 'absolute directories, separated by ":"')
  .default([]);

/** What writer and closer share beside `commonSettings`. */
export const dataPlaneSettings = {
  QUICKSILVER_VOLUMES: volumes,
  /** Slots per volume and process, until the API sets another number. */
  QUICKSILVER_CONCURRENCY: wholeNumber(1, 1000).optional(),
  /** How long a job's lock lasts without renewal; also when a silent holder of a mirror's lane counts as frozen. */
  QUICKSILVER_LOCK_DURATION: milliseconds(30_000, 500),
  QUICKSILVER_STALLED_INTERVAL: milliseconds(15_000, 100),
  QUICKSILVER_HEALTH_PORT: port(0),
  /** Modes and owner of what is written to a volume; by umask and process when unset. */
  QUICKSILVER_FILE_MODE: octalMode.optional(),
  QUICKSILVER_DIR_MODE: octalMode.optional(),
  QUICKSILVER_OWNER: ownerIds.optional(),
} as const;

/** The same three, as an engine is told them. */
export function volumeAccess(config: AccessSettings): VolumeAccess {
  return {
    fileMode: config.QUICKSILVER_FILE_MODE,
    dirMode: config.QUICKSILVER_DIR_MODE,
    owner: config.QUICKSILVER_OWNER,
  };
}

type AccessSettings = Readonly<
  Partial<{
    [K in 'QUICKSILVER_FILE_MODE' | 'QUICKSILVER_DIR_MODE' | 'QUICKSILVER_OWNER']: z.infer<
      (typeof dataPlaneSettings)[K]
    >;
  }>
>;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Shared by every service. */
export const commonSettings = {
  REDIS_URL: redisUrl.default('redis://127.0.0.1:6379'),
  /** 1: accept a Redis that hides its eviction policy, without the repeated warning. */
  QUICKSILVER_REDIS_POLICY_OVERRIDE: flag,
  QUICKSILVER_BIND: z.string().default('127.0.0.1'),
  /** How long running jobs may take after a stop signal; below the 10 s that a container gets by default. */
  QUICKSILVER_GRACE: milliseconds(8000, 0),
  QUICKSILVER_LOG_LEVEL: z.enum(LOG_LEVELS, LOG_LEVELS.join(', ')).default('info'),
} as const;
