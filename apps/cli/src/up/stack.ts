import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HgError } from '@quicksilver/hg-types';
import { z } from 'zod';
import { AdvisedError } from '../cli/faults.ts';
import { Child, type ChildEnd } from './child.ts';
import type { DataDir } from './data-dir.ts';
import { endLeftovers, forgetChild, recordChild } from './leftovers.ts';
import { LogFile } from './log-file.ts';
import { clockTime, isLoud, isOfTask, type LogLine, oneLine, parseLogLine, terminalLine } from './log-line.ts';
import { planRedis, redisAnswers } from './redis.ts';
import { SERVICES, type ServiceEntry, serviceSpec } from './services.ts';
import { readUpSettings, refuseTakenPort, serviceEnv, type UpSettings } from './settings.ts';

export interface StackOptions {
  readonly dir: DataDir;
  readonly port?: number | undefined;
  readonly sourceRoots?: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Whether to say what services log about tasks; warnings are said in any case. */
  readonly tasks: boolean;
  /** One line for the terminal. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Makes the volume at a path unless it is there. */
  readonly initVolume: (path: string) => Promise<void>;
  /** Milliseconds that starting may take (default a minute). */
  readonly deadline?: number;
  /** Programs in place of the built services, for tests. */
  readonly entry?: ServiceEntry;
}

/** Ends before anything was ready after which starting is given up: the fault does not go away by itself. */
const START_FAILURES = 3;
/** How services end that cannot use a setting (EX_CONFIG): trying again is of no use. */
const BAD_SETTING = 78;
const START_DEADLINE = 60_000;

/**
 * Everything on one machine:
 *
 *   start: leftovers of a killed run -> Redis (unless given) -> volume -> API, writer, closer -> all are ready
 *   stop:  API, writer, closer drain together -> Redis, which their draining needs
 */
export class Stack {
  readonly settings: UpSettings;
  readonly #options: StackOptions;
  readonly #children = new Map<string, Child>();
  readonly #logs = new Map<string, LogFile>();
  readonly #urls = new Map<string, string>();
  #cleanUp = () => {};
  #ready = false;
  /** What the API last said when it was not ready. */
  #notReady = '';
  #port: number;
  /** Set when a child cannot be started; whoever waits for readiness throws it. */
  #failure: Error | undefined;

  private constructor(options: StackOptions) {
    this.#options = options;
    this.settings = readUpSettings(options.env, options);
    this.#port = this.settings.port;
  }

  /** Resolves when the API answers that all is ready; on any failure all that was started is stopped. */
  static async start(options: StackOptions): Promise<Stack> {
    const stack = new Stack(options);
    try {
      await stack.#start();
      return stack;
    } catch (err) {
      await stack.stop();
      throw err;
    }
  }

  /** Of the API, as it can be reached from here. */
  get url(): string {
    const url = this.#urls.get('api');
    if (!url) throw new HgError('HG_CLOSED', 'the API has no address before it listens');
    return url;
  }

  get #deadline(): number {
    return this.#options.deadline ?? START_DEADLINE;
  }

  async stop(): Promise<void> {
    const redis = this.#children.get('redis');
    const services = [...this.#children.values()].filter((child) => child !== redis);
    await Promise.all(services.map((child) => child.stop()));
    await redis?.stop();
    for (const name of this.#children.keys()) forgetChild(this.#options.dir.run, name);
    this.#cleanUp();
    for (const log of this.#logs.values()) log[Symbol.dispose]();
  }

  async #start(): Promise<void> {
    const { dir, env, signal, say, initVolume } = this.#options;
    const { settings } = this;
    await refuseTakenPort(settings.port, settings.bind);
    const ended = await endLeftovers(dir.run);
    if (ended.length > 0) say(`ended what a killed run had left: ${ended.join(', ')}`);

    const redis = settings.givenRedis ?? (await this.#startRedis());
    if (settings.givenVolumes === undefined) await initVolume(dir.volume);
    const common = serviceEnv(env, dir, { ...settings, redis });
    for (const name of SERVICES) {
      const own = name === 'api' ? () => ({ ...common, QUICKSILVER_PORT: String(this.#port) }) : () => common;
      this.#add(
        new Child(
          serviceSpec(name, { env: own, grace: settings.grace, entry: this.#options.entry }),
          this.#listen(name),
        ),
      );
    }
    await this.#untilReady(signal);
    this.#ready = true;
  }

  async #startRedis(): Promise<string> {
    const plan = planRedis(this.#options.dir.redis, this.#options.env);
    this.#cleanUp = () => plan.cleanUp();
    this.#add(new Child(plan.spec, this.#listen('redis')));
    await this.#within((signal) => redisAnswers(plan.url, signal));
    return plan.url;
  }

  #add(child: Child): void {
    this.#children.set(child.spec.name, child);
    child.start();
  }

  async #untilReady(outer: AbortSignal): Promise<void> {
    outer.throwIfAborted();
    await this.#within(async (signal) => {
      while (!SERVICES.every((name) => this.#urls.has(name)) || !(await this.#answersReady(signal))) {
        await sleep(20, undefined, { signal });
      }
    });
  }

  /** Waits for what a child has to do, but no longer than children can be started at all. */
  async #within(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const failed = new AbortController();
    const watch = setInterval(() => {
      if (this.#failure) failed.abort(this.#failure);
    }, 20);
    const late = setTimeout(() => failed.abort(this.#tooLate()), this.#deadline);
    const signal = AbortSignal.any([failed.signal, this.#options.signal]);
    try {
      await work(signal);
    } catch (err) {
      // An aborted wait says only that it was aborted; why is in the signal.
      throw signal.aborted ? signal.reason : err;
    } finally {
      clearInterval(watch);
      clearTimeout(late);
    }
  }

  #listen(name: string) {
    const { dir, say } = this.#options;
    const log = new LogFile(join(dir.logs, `${name}.log`));
    this.#logs.set(name, log);
    return {
      started: (pid: number) => recordChild(dir.run, name, pid),
      line: (text: string) => {
        log.line(text);
        const line = parseLogLine(text);
        if (line) this.#onLine(name, line);
      },
      ended: (end: ChildEnd) => {
        const hopeless = end.failures >= START_FAILURES || end.code === BAD_SETTING;
        if (!this.#ready && hopeless) this.#failure ??= doesNotStart(name, end, log);
        else
          say(
            `${clockTime(new Date())} ${name} ended (${end.how}), starting it again in ${end.restartIn / 1000} s; log: ${log.path}`,
          );
      },
    };
  }

  #onLine(name: string, line: LogLine): void {
    const { url } = line.fields;
    if (line.message === 'listening' && typeof url === 'string') {
      this.#urls.set(name, url);
      if (name === 'api') this.#port = Number(new URL(url).port);
    } else if (isLoud(line) || (this.#options.tasks && isOfTask(line)))
      this.#options.say(terminalLine(name, line, new Date()));
  }

  async #answersReady(signal: AbortSignal): Promise<boolean> {
    try {
      const answer = await fetch(new URL('/readyz', this.url), { signal });
      this.#notReady = answer.ok ? '' : reasons(await answer.json());
      return answer.ok;
    } catch (err) {
      if (signal.aborted) throw err;
      return false;
    }
  }

  #tooLate(): AdvisedError {
    const missing = SERVICES.filter((name) => !this.#urls.has(name));
    return new AdvisedError('HG_WORKER_LOST', 'starting took too long', {
      where: {
        waitedFor: missing.join(', ') || 'the API to be ready',
        seconds: this.#deadline / 1000,
        ...(this.#notReady ? { because: this.#notReady } : {}),
      },
      advice: `The logs in ${this.#options.dir.logs} say how far it got.`,
    });
  }
}

function doesNotStart(name: string, end: ChildEnd, log: LogFile): AdvisedError {
  // The last words that are not a stack's: usually the reason.
  const said = log.tail.findLast((line) => line.trim() !== '' && !/^\s+at /.test(line)) ?? '';
  const words = oneLine(parseLogLine(said)?.message || said);
  return new AdvisedError('HG_WORKER_LOST', `the ${name} process does not start`, {
    where: { how: end.how, ...(words ? { said: words.slice(0, 300) } : {}) },
    advice: `Its log says more: ${log.path}`,
  });
}

const Readiness = z.object({
  checks: z.record(z.string(), z.object({ ok: z.boolean(), reason: z.string().optional() })),
});

/** `redis: Redis does not answer; ...` from a readiness report. */
function reasons(report: unknown): string {
  const parsed = Readiness.safeParse(report);
  if (!parsed.success) return '';
  return Object.entries(parsed.data.checks)
    .filter(([, { ok }]) => !ok)
    .map(([name, { reason }]) => (reason ? `${name}: ${reason}` : name))
    .join('; ');
}
