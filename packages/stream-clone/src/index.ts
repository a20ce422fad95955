export { applyStreamBundle } from './apply.ts';
export { type InspectOptions, inspectBundle } from './inspect.ts';
export type { StreamMethod } from './stream-plan.ts';
export type { BundleSummary, ParamSummary, PartSummary, StreamedFileSummary, StreamSummary } from './summary.ts';
export type { ClosingReceipt, FileSource, Progress, StreamCloneOptions, WriteReceipt } from './types.ts';
