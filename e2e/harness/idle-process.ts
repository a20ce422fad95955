import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tied } from '@quicksilver/testing';

const SCRIPT = `
const { monitorEventLoopDelay } = require('node:perf_hooks');
const monitor = monitorEventLoopDelay({ resolution: 10 });
monitor.enable();
process.stdin.on('data', () => process.stdout.write(monitor.max / 1e6 - 10 + '\\n'));
process.stdout.write('ready\\n');
`;

/** A process with nothing to do, which measures how late this machine wakes it: the noise under every other figure. */
export class IdleProcess implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
  }

  static async start(): Promise<IdleProcess> {
    const child = spawn(...tied(process.execPath, ['-e', SCRIPT]), { stdio: 'pipe' });
    await once(child.stdout, 'data');
    return new IdleProcess(child);
  }

  /** Milliseconds, the worst since the start. */
  async worstDelay(): Promise<number> {
    this.#child.stdin.write('?\n');
    const [answer]: unknown[] = await once(this.#child.stdout, 'data');
    return Math.max(0, Number(String(answer)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }
}
