import { FileWriter, type FileWriterOptions, type WriteTally } from '../../src/file-writer.ts';
import { Halt } from '../../src/halt.ts';
import { type BlockGeometry, SharedBlocks } from '../../src/shared-blocks.ts';

export interface SampleFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface FeedOptions
  extends BlockGeometry,
    Pick<FileWriterOptions, 'root' | 'writers' | 'fileMode' | 'dirMode' | 'closing'> {
  readonly signal?: AbortSignal;
  /** Bytes between two pieces of a file, as chunk headers leave them in a bundle. */
  readonly gapEvery?: number;
  /** Called after each block is handed over. */
  onBlock?(): void;
}

export interface FeedResult extends WriteTally {
  readonly peak: number;
}

const GAP = 4;

/** Feeds files through a pool of blocks into a FileWriter, as a stream engine does. */
export async function feed(files: Iterable<SampleFile>, options: FeedOptions): Promise<FeedResult> {
  using halt = new Halt(options.signal);
  const blocks = SharedBlocks.create(options);
  halt.signal.addEventListener('abort', () => blocks.stop(), { once: true });
  const { root, writers, fileMode, dirMode, closing } = options;
  await using writer = FileWriter.start({ root, writers, blocks, halt, fileMode, dirMode, closing });
  let block: number | undefined;
  let at = 0;
  const endBlock = (): void => {
    if (block === undefined) return;
    writer.endBlock();
    blocks.release(block);
    block = undefined;
    options.onBlock?.();
  };
  const room = async (): Promise<{ view: Uint8Array; left: number }> => {
    if (block !== undefined && at >= options.blockSize) endBlock();
    if (block === undefined) {
      block = await blocks.acquire();
      halt.check();
      if (block === undefined) throw new Error('stopped without an error');
      at = 0;
      writer.beginBlock(block);
    }
    return { view: blocks.view(block), left: options.blockSize - at };
  };
  try {
    for (const { path, bytes } of files) {
      await room();
      writer.file(path, bytes.length);
      for (let done = 0; done < bytes.length; ) {
        const { view, left } = await room();
        const piece = bytes.subarray(done, done + Math.min(left, options.gapEvery ?? left));
        view.set(piece, at);
        writer.segment(at, piece.length);
        done += piece.length;
        at += piece.length + (options.gapEvery === undefined ? 0 : GAP);
      }
      await room();
      writer.fileEnd();
    }
    endBlock();
    return { ...(await writer.finish()), peak: blocks.peak };
  } catch (err) {
    throw halt.stop(err);
  }
}
