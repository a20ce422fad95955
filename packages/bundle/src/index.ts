export { type BookmarkEntry, readBookmarks, writeBookmarks } from './bookmarks.ts';
export { type BundleHeader, readBundleHeader, writeBundleHeader } from './bundle-header.ts';
export { Bundle2Decoder, type Bundle2Visitor } from './bundle2-decoder.ts';
export type { StreamFile } from './encode-files.ts';
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
export { StreamOutDecoder } from './stream-out-decoder.ts';
export type { StreamParam, StreamParams } from './stream-params.ts';
export { StreamV1Decoder } from './stream-v1-decoder.ts';
export { encodeStream1Bundle, encodeStreamOut, encodeStreamV1 } from './stream-v1-encoder.ts';
export { type Stream1Params, writeStream1Header } from './stream-v1-header.ts';
export { StreamV2Decoder } from './stream-v2-decoder.ts';
export { type EncodeStreamOptions, encodeStreamBundle, encodeStreamV2 } from './stream-v2-encoder.ts';
export { StreamV3Decoder } from './stream-v3-decoder.ts';
export { type EncodeStream3Options, encodeStream3Bundle, encodeStreamV3 } from './stream-v3-encoder.ts';
export { readStream2Params, type Stream2Params, writeStream2Params } from './stream2-params.ts';
export { readStream3Params, type Stream3Params, writeStream3Params } from './stream3-params.ts';
export type { Announced, StreamEntry, StreamSink, VfsKey } from './streamed-files.ts';
export { quote, unquote } from './url-quoting.ts';
