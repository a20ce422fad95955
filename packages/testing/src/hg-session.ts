import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { tied } from './tied.ts';

export interface HgSession extends AsyncDisposable {
  readonly version: string;
  run(
    args: readonly string[],
    options?: { readonly cwd?: string },
  ): Promise<{
    code: number;
    stdout: string;
    stderr: string;
  }>;
}

export interface HgSessionSettings {
  readonly path: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
}

/** One message of the server: a channel letter, a big-endian u32 length, the bytes (`hg help commandserver`). */
interface Message {
  readonly channel: string;
  readonly bytes: Buffer;
}

/** A command server outside any repository: each command names its own by `cwd` or `-R`, and opens it afresh. */
export async function openHgSession(settings: HgSessionSettings): Promise<HgSession> {
  const child = spawn(...tied(settings.path, ['serve', '--cmdserver', 'pipe', '--config', 'ui.interactive=no']), {
    env: settings.env,
    cwd: '/',
    stdio: 'pipe',
  });
  child.on('error', () => {});
  const messages = readMessages(child);
  await messages.next(); // the hello message
  let tail: Promise<unknown> = Promise.resolve();

  const runNow = async (args: readonly string[], cwd: string | undefined) => {
    const words = cwd === undefined ? args : ['--cwd', cwd, ...args];
    const body = Buffer.from(words.join('\0'));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    child.stdin.write(Buffer.concat([Buffer.from('runcommand\n'), length, body]));
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    for (;;) {
      const { value, done } = await messages.next();
      if (done) throw new Error(`hg ended during: ${words.join(' ')}`);
      if (value.channel === 'r') {
        const [stdout, stderr] = [out, err].map((parts) => Buffer.concat(parts).toString()) as [string, string];
        return { code: value.bytes.readInt32BE(0), stdout, stderr };
      }
      if (value.channel === 'o') out.push(value.bytes);
      else if (value.channel === 'e') err.push(value.bytes);
      else throw new Error(`hg wants input on channel ${value.channel}: ${words.join(' ')}`);
    }
  };

  return {
    version: settings.version,
    run: (args, { cwd } = {}) => {
      const next = tail.then(() => runNow(args, cwd));
      tail = next.catch(() => {});
      return next;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => child.once('close', resolve));
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
      await ended;
      clearTimeout(timer);
    },
  };
}

async function* readMessages(child: ChildProcessWithoutNullStreams): AsyncGenerator<Message, undefined> {
  let held = Buffer.alloc(0);
  for await (const chunk of child.stdout) {
    held = Buffer.concat([held, chunk as Buffer]);
    for (;;) {
      if (held.length < 5) break;
      const channel = String.fromCharCode(held[0] ?? 0);
      const length = held.readUInt32BE(1);
      // On the input channels the length is what the server asks for: no bytes follow.
      const size = channel === 'I' || channel === 'L' ? 0 : length;
      if (held.length < 5 + size) break;
      yield { channel, bytes: held.subarray(5, 5 + size) };
      held = held.subarray(5 + size);
    }
  }
  return undefined;
}
