import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { EngineThread } from '../src/engine-thread.ts';
import { Halt } from '../src/halt.ts';

const entry = new URL('./support/rogue-thread.ts', import.meta.url);

describe('a thread of an engine', () => {
  it.each([
    ['exit', 'HG_WORKER_LOST', 'a thread of the engine ended'],
    ['memory', 'HG_MEMORY', expect.any(String)],
    ['throw-later', 'HG_INTERNAL', 'later'],
    ['refuse', 'HG_INTERNAL', 'refused'],
  ])('that ends by %s stops the attempt with a typed error', async (how, code, message) => {
    using halt = new Halt();
    await using thread = new EngineThread({
      entry,
      name: 'rogue',
      workerData: how,
      halt,
      onMessage: () => {},
      resourceLimits: { maxOldGenerationSizeMb: 16 },
    });
    const stopped = once(halt.signal, 'abort');
    thread.post({ kind: 'go' });
    await stopped;
    expect(halt.error).toMatchObject({ code, message });
  });

  it('that does not see the stop is ended by force', async () => {
    using halt = new Halt();
    const thread = new EngineThread({ entry, name: 'rogue', workerData: 'hang', halt, onMessage: () => {} });
    thread.post({ kind: 'go' });
    const started = performance.now();
    await thread[Symbol.asyncDispose]();
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(halt.error).toBeUndefined();
  });

  it('whose entry is missing is an error too', async () => {
    using halt = new Halt();
    const stopped = once(halt.signal, 'abort');
    await using _thread = new EngineThread({
      entry: new URL('./support/none.ts', import.meta.url),
      name: 'none',
      workerData: undefined,
      halt,
      onMessage: () => {},
    });
    await stopped;
    expect(halt.error).toMatchObject({ code: 'HG_INTERNAL' });
  });
});

describe('halt', () => {
  it('keeps the first error and gives it to everybody', () => {
    using halt = new Halt();
    const first = halt.stop(Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' }));
    expect(halt.stop(new Error('second'))).toBe(first);
    expect(() => halt.check()).toThrow(first);
    expect(halt.signal.reason).toBe(first);
    expect(first).toMatchObject({ code: 'HG_NO_SPACE' });
  });

  it('takes an abort as a cancel, unless its reason says what it is', () => {
    const outer = new AbortController();
    using halt = new Halt(outer.signal);
    outer.abort();
    expect(halt.error).toMatchObject({ code: 'HG_CANCELLED' });
    using fenced = new Halt(AbortSignal.abort(Object.assign(new Error('late'), { code: 'HG_FENCED' })));
    expect(fenced.error).toMatchObject({ code: 'HG_FENCED' });
  });
});
