import {
  Bundle2Decoder,
  type PartHeader,
  readBundleHeader,
  readStream2Params,
  StreamV2Decoder,
} from '../../src/index.ts';
import { faultOf } from './reading.ts';

const ignore = (): void => undefined;
const SILENT = { data: ignore, end: ignore };

/** Reads a container and its streams and looks at nothing: for tests that read many thousand times. */
export function silentFault(bytes: Uint8Array): { code: string; where: unknown } {
  try {
    const header = readBundleHeader(bytes, true);
    const decoder = new Bundle2Decoder({ part: silentPart }, header?.bodyOffset);
    decoder.push(bytes.subarray(header?.bodyOffset));
    decoder.end();
  } catch (err) {
    return faultOf(err);
  }
  return { code: 'ok', where: {} };
}

function silentPart(header: PartHeader): StreamV2Decoder | typeof SILENT {
  if (header.type !== 'stream2') return SILENT;
  return new StreamV2Decoder(readStream2Params(header), { file: ignore, data: ignore, fileEnd: ignore });
}
