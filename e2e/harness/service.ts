import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { killGroup, tied, waitFor } from '@quicksilver/testing';

export type App = 'api' | 'writer' | 'closer';

export interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_DEADLINE = 30_000;

/** One service as shipped: `node apps/<app>/dist/main.js`, in a process group of its own, tied to the test process. */
export class Service {
  readonly app: App;
  readonly env: Readonly<Record<string, string>>;
  /** Everything that was logged, over all starts. */
  readonly log: LogLine[] = [];
  /** What is no log line: stack traces of a process that dies early. */
  readonly noise: string[] = [];
  #child: ChildProcess | undefined;
  #exited: Promise<Exit> | undefined;
  #url: string | undefined;
  #starts = 0;

  constructor(app: App, env: Readonly<Record<string, string>>) {
    this.app = app;
    this.env = env;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.app} was not started`);
    return pid;
  }

  /** Of the present or the last run. */
  get url(): string {
    if (!this.#url) throw new Error(`${this.app} does not listen yet`);
    return this.#url;
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get starts(): number {
    return this.#starts;
  }

  /** Starts it and, unless told not to, waits until it listens. */
  async start(
    options: { readonly wait?: boolean; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<void> {
    if (this.running) return;
    this.#starts += 1;
    this.#url = undefined;
    const child = spawn(...tied(process.execPath, [`${ROOT}apps/${this.app}/dist/main.js`]), {
      env: { ...cleanEnv(), ...this.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
      child.once('error', () => resolve({ code: null, signal: null }));
    });
    readLines(child.stdout, (line) => this.#note(child, line));
    readLines(child.stderr, (line) => this.#note(child, line));
    if (options.wait ?? true) await this.listening();
  }

  async listening(): Promise<string> {
    const what = `${this.app} to listen`;
    return waitFor(
      () => {
        if (!this.#url && !this.running) return new Error(`${this.app} ended: ${this.tail()}`);
        return this.#url;
      },
      { deadline: START_DEADLINE, what },
    ).then((answer) => {
      if (answer instanceof Error) throw answer;
      return answer;
    });
  }

  /** Sends a signal to this process alone; its engine children are left to themselves. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill9(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }

  /** SIGTERM, then waits for the end. */
  async stop(deadline = 40_000): Promise<Exit> {
    this.signal('SIGTERM');
    return this.exited(deadline);
  }

  async exited(deadline = 40_000): Promise<Exit> {
    if (!this.#exited) throw new Error(`${this.app} was not started`);
    const timer = setTimeout(() => this.#child && killGroup(this.#child, 'SIGKILL'), deadline);
    const exit = await this.#exited;
    clearTimeout(timer);
    return exit;
  }

  /** Process ids of all descendants: engine children. */
  descendants(): number[] {
    return this.running ? descendantsOf(this.pid) : [];
  }

  async dispose(): Promise<void> {
    if (!this.#child) return;
    this.signal('SIGCONT');
    killGroup(this.#child, 'SIGKILL');
    await this.#exited;
  }

  /** The last things it said, for the message of a failing test. */
  tail(lines = 15): string {
    return [...this.log.map((line) => JSON.stringify(line)), ...this.noise].slice(-lines).join('\n');
  }

  #note(child: ChildProcess, line: string): void {
    const parsed = parseLine(line);
    if (!parsed) {
      this.noise.push(line);
      return;
    }
    this.log.push(parsed);
    if (parsed.msg === 'listening' && typeof parsed.url === 'string' && child === this.#child) this.#url = parsed.url;
  }
}

/** Nothing of the developer's own settings reaches a service under test. */
function cleanEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(QUICKSILVER_|REDIS_|NODE_OPTIONS|NODE_ENV|JEST_|LD_PRELOAD|FAULTS_)/.test(name),
  );
  return { ...Object.fromEntries(kept), NODE_NO_WARNINGS: '1' };
}

function parseLine(line: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isLogLine(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isLogLine(value: unknown): value is LogLine {
  return typeof value === 'object' && value !== null && 'msg' in value && typeof value.msg === 'string';
}

function readLines(stream: NodeJS.ReadableStream | null, each: (line: string) => void): void {
  let held = '';
  stream?.on('data', (chunk: Buffer) => {
    const lines = `${held}${chunk.toString()}`.split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) if (line !== '') each(line);
  });
}

function descendantsOf(pid: number): number[] {
  const direct: number[] = [];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
      direct.push(...text.trim().split(' ').filter(Boolean).map(Number));
    }
  } catch {
    // It ended meanwhile.
  }
  return direct.flatMap((child) => [child, ...descendantsOf(child)]);
}
