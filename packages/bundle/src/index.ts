export { type BookmarkEntry, readBookmarks, writeBookmarks } from './bookmarks.ts';
export { type BundleHeader, readBundleHeader, writeBundleHeader } from './bundle-header.ts';
export { Bundle2Decoder, type Bundle2Visitor } from './bundle2-decoder.ts';
export { KNOWN_PARTS, refuseUnknown } from './known-parts.ts';
export { DEFAULT_CHUNK, MAX_HEADER, MAX_PART_HEADER, MAX_STREAM_NAME, MAX_STREAM_PARAMS } from './layout.ts';
export type { PartConsumer } from './part-consumer.ts';
export {
  type PartHeader,
  type PartHeaderFields,
  type PartParam,
  readPartHeader,
  writePartHeader,
} from './part-header.ts';
export { type CollectorOptions, PayloadCollector } from './payload-collector.ts';
export { endMarker, framePayload, frameStream } from './payload-framing.ts';
export { type PhaseHead, readPhaseHeads, writePhaseHeads } from './phase-heads.ts';
export type { StreamParam, StreamParams } from './stream-params.ts';
export { type StreamEntry, type StreamSink, StreamV2Decoder, type VfsKey } from './stream-v2-decoder.ts';
export { type EncodeStreamOptions, encodeStreamBundle, encodeStreamV2, type StreamFile } from './stream-v2-encoder.ts';
export { readStream2Params, type Stream2Params, writeStream2Params } from './stream2-params.ts';
export { quote, unquote } from './url-quoting.ts';
