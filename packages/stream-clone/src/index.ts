export { applyStreamBundle } from './apply.ts';
export type { FileSource, Progress, StreamCloneOptions, WriteReceipt } from './types.ts';
