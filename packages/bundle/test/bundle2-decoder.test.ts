import { describe, expect, it } from '@jest/globals';
import {
  Bundle2Decoder,
  type Bundle2Visitor,
  endMarker,
  framePayload,
  frameStream,
  MAX_PART_HEADER,
  type PartHeader,
  refuseUnknown,
  writePartHeader,
} from '../src/index.ts';
import { codeOf, faultOf } from './support/reading.ts';

const text = (value: string): Uint8Array => Buffer.from(value, 'latin1');
const i32 = (value: number): Uint8Array => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const part = (type: string, payload: string, advisory: [string, string][] = []): Uint8Array[] => [
  writePartHeader({ type, id: 0, advisory }),
  ...framePayload(text(payload)),
];
const joined = (...pieces: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces));

interface Log {
  readonly log: string[];
  readonly visitor: Bundle2Visitor;
}

function logging(): Log {
  const log: string[] = [];
  return {
    log,
    visitor: {
      part: (header) => {
        log.push(`part ${header.rawType}`);
        if (refuseUnknown(header) === 'skip') return 'skip';
        let payload = '';
        return {
          data: (bytes) => {
            payload += Buffer.from(bytes).toString('latin1');
          },
          end: () => log.push(`end ${header.rawType} ${payload}`),
        };
      },
      output: (line) => log.push(`output ${line}`),
    },
  };
}

function run(bytes: Uint8Array, step = 1): string[] {
  const { log, visitor } = logging();
  const decoder = new Bundle2Decoder(visitor);
  for (let at = 0; at < bytes.length; at += step) decoder.push(bytes.subarray(at, at + step));
  decoder.end();
  return log;
}

describe('Bundle2Decoder', () => {
  it('reads an empty bundle', () => {
    expect(run(endMarker())).toEqual([]);
  });

  it('gives parts in order with their payloads, and passes over unknown advisory ones', () => {
    const bytes = joined(...part('LISTKEYS', 'one'), ...part('mystery', 'xx'), ...part('BOOKMARKS', ''), endMarker());
    expect(run(bytes)).toEqual([
      'part LISTKEYS',
      'end LISTKEYS one',
      'part mystery',
      'part BOOKMARKS',
      'end BOOKMARKS ',
    ]);
    expect(run(bytes, 1000)).toEqual(run(bytes));
  });

  it('hands out views of what was pushed', () => {
    const bytes = joined(...part('LISTKEYS', 'abcdef'), endMarker());
    const buffers: ArrayBufferLike[] = [];
    const decoder = new Bundle2Decoder({
      part: () => ({ data: (view) => buffers.push(view.buffer), end: () => undefined }),
    });
    decoder.push(bytes);
    expect(buffers).toEqual([bytes.buffer]);
  });

  it('delivers the output of a part that interrupts another, and goes on with the other', () => {
    const bytes = joined(
      writePartHeader({ type: 'LISTKEYS', id: 0 }),
      i32(3),
      text('abc'),
      i32(-1),
      ...part('output', 'line one\nline \x07two\n'),
      i32(-1),
      i32(0),
      i32(3),
      text('def'),
      endMarker(),
      endMarker(),
    );
    expect(run(bytes)).toEqual(['part LISTKEYS', 'output line one', 'output line \\x07two', 'end LISTKEYS abcdef']);
  });

  it('drops output beyond what anyone would read, and keeps reading', () => {
    const bytes = joined(
      writePartHeader({ type: 'output', id: 0 }),
      ...frameStream([new Uint8Array(200_000).fill(0x61)]),
      endMarker(),
    );
    const [, line, end] = run(bytes, 5000).sort((a, b) => a.length - b.length);
    expect(line?.length).toBe('output '.length + 64 * 1024);
    expect(end?.length).toBe('end output '.length + 200_000);
  });

  it.each(['error:abort', 'ERROR:ABORT', 'error:pushraced', 'error:unsupportedcontent', 'error:pushkey', 'error:new'])(
    'ends with the words of %s, alone or in the middle of a part',
    (type) => {
      const error = part(type, '', [['message', 'disk \x1b full']]);
      const alone = joined(...error, endMarker());
      const within = joined(writePartHeader({ type: 'LISTKEYS', id: 0 }), i32(-1), ...error, endMarker(), endMarker());
      for (const bytes of [alone, within]) {
        let fault: unknown;
        try {
          run(bytes);
        } catch (err) {
          fault = faultOf(err);
        }
        expect(fault).toMatchObject({ code: 'HG_REMOTE_ABORT', where: { part: type, message: 'disk \\x1b full' } });
      }
    },
  );

  it('lets only parts interrupt that stand for themselves', () => {
    const within = (...inner: Uint8Array[]): Uint8Array =>
      joined(writePartHeader({ type: 'LISTKEYS', id: 0 }), i32(-1), ...inner, endMarker(), endMarker());
    expect(codeOf(() => run(within(...part('mystery', 'x'))))).toBe('ok');
    expect(codeOf(() => run(within(...part('replycaps', 'x'))))).toBe('ok');
    expect(codeOf(() => run(within(...part('MYSTERY', 'x'))))).toBe('HG_UNSUPPORTED');
    expect(codeOf(() => run(within(...part('STREAM2', 'x'))))).toBe('HG_UNSUPPORTED');
    expect(codeOf(() => run(within(writePartHeader({ type: 'output', id: 1 }), i32(-1))))).toBe('HG_CORRUPT');
  });

  it.each([-2, -5, -(2 ** 31)])('refuses %i as the size of a chunk or header', (size) => {
    expect(codeOf(() => run(i32(size)))).toBe('HG_CORRUPT');
    expect(codeOf(() => run(joined(writePartHeader({ type: 'LISTKEYS', id: 0 }), i32(size))))).toBe('HG_CORRUPT');
  });

  it('has no limit but its own on a part header, and allocates nothing for what does not come', () => {
    const before = process.memoryUsage().arrayBuffers;
    const decoder = new Bundle2Decoder(logging().visitor);
    decoder.push(joined(i32(MAX_PART_HEADER), new Uint8Array(10)));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MAX_PART_HEADER / 2);
    expect(codeOf(() => decoder.end())).toBe('HG_TRUNCATED');
    expect(codeOf(() => run(i32(MAX_PART_HEADER + 1)))).toBe('HG_LIMIT');
  });

  it('reads the largest header that can be', () => {
    const full = (prefix: string): [string, string][] =>
      Array.from({ length: 255 }, (_, i) => [`${prefix}${i}`.padEnd(255, '-'), 'v'.repeat(255)]);
    const header = writePartHeader({
      type: 't'.repeat(255),
      id: 2 ** 32 - 1,
      mandatory: full('m'),
      advisory: full('a'),
    });
    expect(header.length).toBe(4 + MAX_PART_HEADER);
    let seen: PartHeader | undefined;
    const decoder = new Bundle2Decoder({
      part: (parsed) => {
        seen = parsed;
        return 'skip';
      },
    });
    decoder.push(joined(header, endMarker(), endMarker()));
    decoder.end();
    expect(seen).toMatchObject({ id: 2 ** 32 - 1, mandatory: false, headerSize: MAX_PART_HEADER, offset: 4 });
    expect(seen?.params.size).toBe(510);
  });

  it('counts what comes after the end marker and knows where the container ended', () => {
    const decoder = new Bundle2Decoder(logging().visitor, 100);
    decoder.push(joined(endMarker(), text('tail')));
    decoder.push(text('more'));
    decoder.end();
    expect([decoder.finished, decoder.offset, decoder.trailing]).toEqual([true, 104, 8]);
  });

  it('throws the same error again once it has failed, that of a consumer too', () => {
    const failure = new Error('disk');
    const decoder = new Bundle2Decoder({
      part: () => ({
        data: () => {
          throw failure;
        },
        end: () => undefined,
      }),
    });
    const bytes = joined(...part('LISTKEYS', 'one'), endMarker());
    expect(() => decoder.push(bytes)).toThrow(failure);
    expect(() => decoder.push(bytes)).toThrow(failure);
    expect(() => decoder.end()).toThrow(failure);
  });
});
