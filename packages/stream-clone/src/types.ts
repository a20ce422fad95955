import type { CompressionName } from '@quicksilver/codec';
import type { Owner } from '@quicksilver/file-writer';
import type { Phase } from '@quicksilver/hg-types';
import type { StreamMethod } from './stream-plan.ts';

/** A bundle file of the user: read by ordinary reads, never mapped, since others may shorten it. */
export interface FileSource {
  readonly kind: 'file';
  readonly path: string;
}

/** Totals as announced; where a stream announces none (version 3), estimates that the end puts right. */
export interface Progress {
  readonly stage: 'plan' | 'write';
  readonly files: { readonly done: number; readonly total: number };
  readonly bytes: { readonly done: number; readonly total: number };
}

export interface StreamCloneOptions {
  readonly source: FileSource;
  /** An existing, empty directory that nobody else uses: it becomes the repository. It is never made again. */
  readonly root: string;
  /** Writer threads; by default as many as help, two at most. */
  readonly writers?: number | undefined;
  /** Bytes in flight between reader and writers (default 64 MiB). */
  readonly memoryTarget?: number | undefined;
  /** `auto`: small streams are written without threads, which would take longer to start than to help. */
  readonly threads?: 'auto' | 'always' | 'never' | undefined;
  /** Closing of files by threads of their own: always, never, or (`auto`, the default) while close is slow. */
  readonly backgroundClose?: 'off' | 'on' | 'auto' | undefined;
  /** Streams of fewer files are closed by their writers (default 2048). */
  readonly backgroundCloseMinFileCount?: number | undefined;
  /** Files that may be open because their close is waited for (default 384). */
  readonly backgroundCloseMaxQueue?: number | undefined;
  /** Closer threads (default 4; in `auto` 4 to 16, by how slow close is). */
  readonly backgroundCloseThreadCount?: number | undefined;
  /** Exact modes when given, else 0666 and 0777 less the umask. */
  readonly fileMode?: number | undefined;
  readonly dirMode?: number | undefined;
  readonly owner?: Owner | undefined;
  readonly signal: AbortSignal;
  /** Called often; the caller slows it down. */
  onProgress?(progress: Progress): void;
}

/** How files were closed. */
export interface ClosingReceipt {
  readonly mode: 'off' | 'on' | 'auto';
  /** Threads that closed; 0: the writers did. */
  readonly closers: number;
  /** The most files that could be open because of them. */
  readonly maxQueue: number;
  /** Median of the last 64 closes, where that was looked at and there were so many. */
  readonly closeMilliseconds?: number | undefined;
  readonly why: string;
}

/** What was written, as plain data. Names are bytes, one character each. */
export interface WriteReceipt {
  readonly v: 1;
  readonly source: {
    readonly path: string;
    readonly size: number;
    readonly header: 'HG20' | 'HGS1';
    readonly compression: CompressionName;
  };
  readonly method: StreamMethod;
  /** Of the repository written, sorted. */
  readonly requirements: readonly string[];
  /** As the stream announced them. */
  readonly streamedRequirements: readonly string[];
  /** Files of the stream that were written, and their bytes; not counted are the few that the engine adds. */
  readonly files: number;
  readonly bytes: number;
  readonly directories: number;
  /** Files of the stream that a repository like this does not keep. */
  readonly droppedFiles: readonly string[];
  /** From a `bookmarks` part: to be written once their nodes are known to exist. */
  readonly bookmarks: readonly { readonly name: string; readonly node: string }[];
  /** From `phase-heads` parts: to be applied once their nodes are known to exist. */
  readonly phaseHeads: readonly { readonly phase: Phase; readonly node: string }[];
  readonly warnings: readonly string[];
  readonly settings: {
    readonly writers: number;
    readonly memoryTarget: number;
    readonly why: string;
    readonly backgroundClose: ClosingReceipt;
  };
  readonly seconds: number;
}
