import type { Halt, SharedBlocks } from '@quicksilver/file-writer';
import { HgError } from '@quicksilver/hg-types';
import type { SourceFile } from './source-file.ts';

/** A block that holds the next bytes of the input. Its one reference goes to whoever takes it. */
export interface FilledBlock {
  readonly block: number;
  readonly bytes: Uint8Array;
}

export interface Intake {
  readonly blocks: SharedBlocks;
  readonly halt: Halt;
}

/** Reads under way at once: the disk works on one block while the parser does on another. */
const READS_AHEAD = 2;

/** The bytes of a file from `position` on, read straight into blocks by the system's thread pool, ahead of the taker. */
export async function* fileBlocks(
  source: SourceFile,
  position: number,
  { blocks, halt }: Intake,
): AsyncGenerator<FilledBlock> {
  const underWay: Promise<FilledBlock>[] = [];
  let next = position;
  const start = (): void => {
    const from = next;
    const length = Math.min(blocks.blockSize, source.size - from);
    next += length;
    const read = readBlock(source, { from, length }, { blocks, halt });
    read.catch(() => {}); // taken below, or of no interest after the first error
    underWay.push(read);
  };
  while (next < source.size && underWay.length < READS_AHEAD) start();
  for (let oldest = underWay.shift(); oldest !== undefined; oldest = underWay.shift()) {
    const filled = await oldest;
    if (next < source.size) start();
    yield filled;
  }
}

async function readBlock(
  source: SourceFile,
  { from, length }: { from: number; length: number },
  intake: Intake,
): Promise<FilledBlock> {
  const { block, view } = await freeBlock(intake);
  const bytes = view.subarray(0, length);
  await source.read(bytes, from);
  return { block, bytes };
}

/** The same for bytes that come in pieces of any size: they are copied, and handed on as soon as a block is full. */
export async function* copiedBlocks(pieces: AsyncIterable<Uint8Array>, intake: Intake): AsyncGenerator<FilledBlock> {
  let current: { block: number; view: Uint8Array } | undefined;
  let used = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      current ??= await freeBlock(intake);
      const part = piece.subarray(at, at + current.view.length - used);
      current.view.set(part, used);
      used += part.length;
      at += part.length;
      if (used < current.view.length) continue;
      const { block, view } = current;
      current = undefined;
      used = 0;
      yield { block, bytes: view };
    }
  }
  if (current) yield { block: current.block, bytes: current.view.subarray(0, used) };
}

async function freeBlock({ blocks, halt }: Intake): Promise<{ block: number; view: Uint8Array }> {
  const block = await blocks.acquire();
  halt.check();
  if (block === undefined) throw new HgError('HG_CLOSED', 'the blocks were stopped without a reason');
  return { block, view: blocks.view(block) };
}
