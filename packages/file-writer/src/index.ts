export type { Owner, Tally } from './batch-writer.ts';
export { CLOSE_QUEUE, CLOSER_THREADS, type Closing, type ClosingFacts } from './closers.ts';
export { EngineThread, type EngineThreadOptions } from './engine-thread.ts';
export { FileWriter, type FileWriterOptions, type WriteTally } from './file-writer.ts';
export { Halt } from './halt.ts';
export { type BlockGeometry, type BlocksHandle, SharedBlocks } from './shared-blocks.ts';
export { writeFault } from './write-fault.ts';
