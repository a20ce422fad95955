import {
  Bundle2Decoder,
  type PartConsumer,
  type PartHeader,
  readBundleHeader,
  readStream2Params,
  readStream3Params,
  StreamV1Decoder,
  StreamV2Decoder,
  StreamV3Decoder,
} from '../../src/index.ts';
import { faultOf } from './reading.ts';

const ignore = (): void => undefined;
const SILENT = { data: ignore, end: ignore };
const SINK = { file: ignore, data: ignore, fileEnd: ignore };

/** Reads a container and its streams and looks at nothing: for tests that read many thousand times. */
export function silentFault(bytes: Uint8Array): { code: string; where: unknown } {
  try {
    const header = readBundleHeader(bytes, true);
    const decoder =
      header?.kind === 'HGS1'
        ? new StreamV1Decoder(header.stream, SINK, header.bodyOffset)
        : new Bundle2Decoder({ part: silentPart }, header?.bodyOffset);
    decoder.push(bytes.subarray(header?.bodyOffset));
    decoder.end();
  } catch (err) {
    return faultOf(err);
  }
  return { code: 'ok', where: {} };
}

function silentPart(header: PartHeader): PartConsumer {
  switch (header.type) {
    case 'stream2':
      return new StreamV2Decoder(readStream2Params(header), SINK);
    case 'stream3-exp':
      readStream3Params(header);
      return new StreamV3Decoder(() => SINK);
    default:
      return SILENT;
  }
}
