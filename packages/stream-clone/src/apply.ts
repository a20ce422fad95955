/*
 * A stream bundle becomes a repository:
 *
 *   source file --reads ahead--> blocks --> decoders (this thread) --> plan of each file --> writers --> disk
 *
 * The decoders see views of the blocks and the writers get offsets in them: no byte of a file is copied on the way.
 * A block is free again when the decoder has passed it and every file in it is on disk, so the pool bounds what is
 * under way. Everything stops on the first error of anybody (Halt).
 */
import { Bundle2Decoder, type BundleHeader, type StreamV1Decoder } from '@quicksilver/bundle';
import { type CompressionName, decompressStream } from '@quicksilver/codec';
import { FileWriter, Halt, SharedBlocks, type WriteTally } from '@quicksilver/file-writer';
import { HgError } from '@quicksilver/hg-types';
import { planRequirements } from '@quicksilver/store';
import { completeStore } from './complete-store.ts';
import { copiedBlocks, type FilledBlock, fileBlocks, type Intake } from './filled-blocks.ts';
import { readHeader } from './read-header.ts';
import { Receiver } from './receiver.ts';
import { checkTarget } from './room.ts';
import {
  type ClosingChoice,
  chooseClosing,
  chooseWriters,
  closingReceipt,
  DEFAULT_MEMORY_TARGET,
  planBlocks,
  type WriterChoice,
} from './settings.ts';
import { SourceFile } from './source-file.ts';
import { StoreSink } from './store-sink.ts';
import type { StreamPlan } from './stream-plan.ts';
import type { Progress, StreamCloneOptions, WriteReceipt } from './types.ts';

type StreamHeader = Extract<BundleHeader, { kind: 'HG20' | 'HGS1' }>;

const COMPRESSED_PIECE = 256 * 1024;
const PROGRESS_INTERVAL = 200;

/** Writes the repository of a stream bundle into an empty directory. Nothing is proved or flushed yet. */
export async function applyStreamBundle(options: StreamCloneOptions): Promise<WriteReceipt> {
  const started = performance.now();
  using halt = new Halt(options.signal);
  halt.check();
  using source = SourceFile.open(options.source.path);
  try {
    const attempt = await Attempt.begin(source, options, halt);
    return await attempt.run(started);
  } catch (err) {
    throw source.explain(halt.stop(err));
  }
}

class Attempt {
  readonly #source: SourceFile;
  readonly #options: StreamCloneOptions;
  readonly #halt: Halt;
  readonly #header: StreamHeader;
  readonly #memoryTarget: number;
  readonly #blocks: SharedBlocks;
  readonly #receiver: Receiver;
  readonly #threads = new AsyncDisposableStack();
  #choice: WriterChoice | undefined;
  #closing: ClosingChoice | undefined;
  /** The one that is being decoded. */
  #block: number | undefined;

  private constructor(
    source: SourceFile,
    header: StreamHeader,
    { options, halt }: { options: StreamCloneOptions; halt: Halt },
  ) {
    this.#source = source;
    this.#options = options;
    this.#halt = halt;
    this.#header = header;
    this.#memoryTarget = options.memoryTarget ?? DEFAULT_MEMORY_TARGET;
    this.#blocks = SharedBlocks.create(planBlocks(this.#memoryTarget, source.size));
    this.#receiver = new Receiver((plan) => this.#openStream(plan), { sourceSize: source.size });
    halt.signal.addEventListener('abort', () => this.#blocks.stop(), { once: true });
  }

  static async begin(source: SourceFile, options: StreamCloneOptions, halt: Halt): Promise<Attempt> {
    return new Attempt(source, await readStreamHeader(source), { options, halt });
  }

  async run(started: number): Promise<WriteReceipt> {
    await using _threads = this.#threads;
    try {
      await this.#decode();
      const { stream } = this.#receiver;
      if (stream === undefined) {
        throw new HgError('HG_UNSUPPORTED', 'the bundle holds no stream clone', { file: this.#source.path });
      }
      const tally = await this.#finish(stream);
      this.#source.checkUnchanged();
      const requirements = completeStore(stream, this.#receiver.warnings, this.#options.root);
      return this.#receipt({ stream, tally, requirements, seconds: (performance.now() - started) / 1000 });
    } catch (err) {
      // Before the threads are waited for: they see it and give up what is queued.
      throw this.#halt.stop(err);
    }
  }

  /** Everything that must hold before the first byte is written. */
  #openStream(plan: StreamPlan): StoreSink {
    const { root, fileMode, dirMode, owner } = this.#options;
    planRequirements(plan.requirements);
    this.#checkCount(plan);
    checkTarget(root, plan);
    const choice = chooseWriters(this.#options, plan);
    this.#choice = choice;
    this.#closing = chooseClosing(this.#options, plan);
    const shared = { blocks: this.#blocks, halt: this.#halt, closing: this.#closing.closing };
    const writer = this.#threads.use(
      FileWriter.start({ root, fileMode, dirMode, owner, ...shared, writers: choice.threads, help: choice.help }),
    );
    writer.directory('.hg/store');
    const sink = new StoreSink(plan, writer, this.#blocks);
    if (this.#block !== undefined) sink.beginBlock(this.#block);
    this.#report(sink, 'plan');
    return sink;
  }

  /** A number that cannot be true is a matter of the bundle, not of the room on the volume. */
  #checkCount({ fileCount }: StreamPlan): void {
    if (this.#compression !== 'none' || fileCount <= this.#source.size) return;
    throw new HgError('HG_TRUNCATED', 'the stream announces more files than the bundle has bytes', {
      file: this.#source.path,
      announcedFiles: fileCount,
      size: this.#source.size,
    });
  }

  get #compression(): CompressionName {
    return this.#header.kind === 'HGS1' ? 'none' : this.#header.compression;
  }

  #decoder(): Bundle2Decoder | StreamV1Decoder {
    const { bodyOffset } = this.#header;
    if (this.#header.kind === 'HGS1') return this.#receiver.stream1(this.#header.stream, bodyOffset);
    return new Bundle2Decoder(this.#receiver, bodyOffset);
  }

  async #decode(): Promise<void> {
    const compression = this.#compression;
    const decoder = this.#decoder();
    for await (const { block, bytes } of this.#filledBlocks()) {
      this.#block = block;
      this.#receiver.stream?.beginBlock(block);
      decoder.push(bytes);
      this.#receiver.stream?.endBlock();
      this.#block = undefined;
      this.#blocks.release(block);
      this.#halt.check();
      if (this.#receiver.stream) this.#report(this.#receiver.stream, 'write');
      // A compressed stream is read on: its own end and checksum must come.
      if (decoder.finished && compression === 'none') break;
    }
    decoder.end();
    const trailing = compression === 'none' ? this.#source.size - decoder.offset : decoder.trailing;
    this.#warnOfTrailing(trailing);
  }

  #filledBlocks(): AsyncIterable<FilledBlock> {
    const { bodyOffset } = this.#header;
    const compression = this.#compression;
    const intake: Intake = { blocks: this.#blocks, halt: this.#halt };
    if (compression === 'none') return fileBlocks(this.#source, bodyOffset, intake);
    const pieces = decompressStream(compression, this.#source.pieces(bodyOffset, COMPRESSED_PIECE), {
      signal: this.#halt.signal,
      onTrailing: (bytes) => this.#warnOfTrailing(bytes),
    });
    return copiedBlocks(pieces, intake);
  }

  async #finish(stream: StoreSink): Promise<WriteTally> {
    const timer = setInterval(() => this.#report(stream, 'write'), PROGRESS_INTERVAL);
    try {
      const tally = await stream.writer.finish();
      this.#report(stream, 'write', true);
      return tally;
    } finally {
      clearInterval(timer);
    }
  }

  #warnOfTrailing(bytes: number): void {
    if (bytes > 0) this.#receiver.warnings.add(`${bytes} bytes after the end of the bundle were ignored`);
  }

  #report({ plan, writer }: StoreSink, stage: Progress['stage'], complete = false): void {
    const { files, bytes } = writer.written;
    // An estimate gives way to what is known by now.
    const total = (done: number, planned: number): number =>
      plan.exact ? planned : complete ? done : Math.max(done, planned);
    this.#options.onProgress?.({
      stage,
      files: { done: files, total: total(files, plan.fileCount) },
      bytes: { done: bytes, total: total(bytes, plan.byteCount) },
    });
  }

  #receipt(done: { stream: StoreSink; tally: WriteTally; requirements: string[]; seconds: number }): WriteReceipt {
    const { stream, requirements, seconds } = done;
    const { closing, ...tally } = done.tally;
    return {
      v: 1,
      source: {
        path: this.#source.path,
        size: this.#source.size,
        header: this.#header.kind,
        compression: this.#compression,
      },
      method: stream.plan.method,
      requirements,
      streamedRequirements: stream.plan.requirements,
      ...tally,
      droppedFiles: stream.entries.dropped,
      bookmarks: this.#receiver.bookmarks,
      phaseHeads: this.#receiver.phaseHeads,
      warnings: this.#receiver.warnings.list,
      settings: {
        writers: this.#choice?.writers ?? 1,
        memoryTarget: this.#memoryTarget,
        why: this.#choice?.why ?? '',
        backgroundClose: closingReceipt(this.#closing, closing),
      },
      seconds,
    };
  }
}

async function readStreamHeader(source: SourceFile): Promise<StreamHeader> {
  const header = await readHeader(source);
  if (header.kind !== 'HG10') return header;
  const where = { file: source.path, header: header.kind };
  throw new HgError('HG_NOT_YET', 'the bundle holds a history in another form than a stream', where);
}
