import { commonSettings, directories, flag, milliseconds, port, volumes, wholeNumber } from '@quicksilver/app-kit';
import { z } from 'zod';

/** `16`, or `16,spare=4` with exceptions for volumes: tasks that may be under way at once. */
const slots = z.string().transform((text, ctx): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (const entry of text.split(',')) {
    const [, volume = '', count = ''] = /^\s*(?:([a-z0-9-]+)=)?(\d{1,6})\s*$/.exec(entry) ?? [];
    if (Number(count) < 1)
      ctx.addIssue({ code: 'custom', message: 'a number from 1 on, or name=number, separated by ","' });
    found.set(volume, Number(count));
  }
  return found;
});

const DEFAULT_SLOTS = 16;

/** Settings of the API; docs in README.md. */
export const ApiConfig = z.object({
  ...commonSettings,
  QUICKSILVER_PORT: port(7080),
  /** SQLite file; made when it is missing. */
  QUICKSILVER_DATABASE: z.string().min(1),
  /** The first one is the default of new mirrors. Paths matter here only for a scan after the database was lost. */
  QUICKSILVER_VOLUMES: volumes,
  QUICKSILVER_SOURCE_ROOTS: directories,
  /** 1: sources may be addresses in private networks. The writer has the last word. */
  QUICKSILVER_ALLOW_PRIVATE_SOURCES: flag,
  QUICKSILVER_SLOTS: slots.default(new Map()),
  QUICKSILVER_TICK: milliseconds(1000, 10),
  /** How long a flow may be missing or failed before its task gets another. */
  QUICKSILVER_FLOW_GRACE: milliseconds(10_000, 0),
  QUICKSILVER_EVENT_CLIENTS: wholeNumber(0, 100_000).default(256),
  /** Between two comments that keep an idle event stream open. */
  QUICKSILVER_EVENT_HEARTBEAT: milliseconds(15_000, 10),
});
export type ApiConfig = z.infer<typeof ApiConfig>;

export function slotsOf(config: ApiConfig, volume: string): number {
  const slots = config.QUICKSILVER_SLOTS;
  return slots.get(volume) ?? slots.get('') ?? DEFAULT_SLOTS;
}
