import { describe, expect, it } from '@jest/globals';
import { bzip2 } from '@quicksilver/testing';
import { Bzip2Decompressor } from '../src/bzip2.ts';
import { withoutLibc } from '../src/libc.ts';

const plain = Buffer.alloc(300_000, 'some text, again and again. ');

async function readAll(bytes: Uint8Array): Promise<{ output: Buffer; rest: Uint8Array }> {
  const outputs: Uint8Array[] = [];
  using context = Bzip2Decompressor.open();
  for (let rest = bytes; ; ) {
    const step = await context.run(rest);
    outputs.push(step.output);
    rest = rest.subarray(step.used);
    if (step.ended) return { output: Buffer.concat(outputs), rest };
  }
}

describe('Bzip2Decompressor', () => {
  it('gives back what was compressed, says where the stream ends, and leaves what lies behind', async () => {
    const { output, rest } = await readAll(Buffer.concat([bzip2(plain), Buffer.from('more')]));
    expect(output.equals(plain)).toBe(true);
    expect(Buffer.from(rest).toString()).toBe('more');
  });

  it('names what is wrong with the data', async () => {
    using garbage = Bzip2Decompressor.open();
    await expect(garbage.run(Buffer.from('BZx9 is no magic'))).rejects.toMatchObject({ code: 'HG_CORRUPT' });
    const damaged = bzip2(plain);
    damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 0x10;
    await expect(readAll(damaged)).rejects.toMatchObject({ code: 'HG_CORRUPT', where: { codec: 'bzip2' } });
  });

  it('may be disposed of while it works: the thread keeps its memory, and nobody uses it any more', async () => {
    const context = Bzip2Decompressor.open();
    const running = context.run(bzip2(plain));
    context[Symbol.dispose]();
    expect((await running).used).toBeGreaterThan(0);
    await expect(context.run(Buffer.alloc(1))).rejects.toMatchObject({ code: 'HG_CLOSED' });
  });

  it('names the library where it is missing', () => {
    const missing = { code: 'HG_UNSUPPORTED', where: expect.objectContaining({ library: 'libbz2-none.so' }) };
    expect(() => Bzip2Decompressor.open(['libbz2-none.so'])).toThrow(expect.objectContaining(missing));
    const restore = withoutLibc();
    expect(() => Bzip2Decompressor.open(['libbz2.so.1.0'])).toThrow(
      expect.objectContaining({ code: 'HG_UNSUPPORTED' }),
    );
    restore();
  });
});
