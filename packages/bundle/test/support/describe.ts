import { createHash } from 'node:crypto';
import {
  Bundle2Decoder,
  type BundleHeader,
  type PartConsumer,
  type PartHeader,
  readBundleHeader,
  readStream2Params,
  StreamV2Decoder,
} from '../../src/index.ts';
import type { SidecarName, SidecarPart } from './fixtures.ts';

/** Spells a name as sidecars do. */
export function sidecarName(name: Uint8Array): SidecarName {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(name);
  } catch {
    return { hex: Buffer.from(name).toString('hex') };
  }
}

/** Collects the facts of a container's parts from a decoder. */
export class PartFacts {
  readonly parts: SidecarPart[] = [];

  readonly decoder: Bundle2Decoder;

  constructor(baseOffset = 0) {
    this.decoder = new Bundle2Decoder({ part: (header) => this.#part(header) }, baseOffset);
  }

  #part(header: PartHeader): PartConsumer {
    const payload = createHash('sha256');
    let size = 0;
    const files: { src: string; name: SidecarName; size: number; sha256: string }[] = [];
    const stream = header.type === 'stream2' ? streamFacts(header, files) : undefined;
    const params = [...header.params];
    const side = (mandatory: boolean): [string, string][] =>
      params.filter(([, param]) => param.mandatory === mandatory).map(([key, param]) => [key, param.value]);
    return {
      data: (bytes) => {
        payload.update(bytes);
        size += bytes.length;
        stream?.data(bytes);
      },
      end: () => {
        stream?.end();
        this.parts.push({
          type: header.type,
          raw_type: header.rawType,
          mandatory: header.mandatory,
          id: header.id,
          mandatory_params: side(true),
          advisory_params: side(false),
          header_size: header.headerSize,
          payload_size: size,
          payload_sha256: payload.digest('hex'),
          ...(stream ? { files } : {}),
        });
      },
    };
  }
}

function streamFacts(
  header: PartHeader,
  files: { src: string; name: SidecarName; size: number; sha256: string }[],
): StreamV2Decoder {
  let file: { src: string; name: SidecarName; size: number } | undefined;
  let digest = createHash('sha256');
  return new StreamV2Decoder(readStream2Params(header), {
    file: ({ vfsKey, name, size }) => {
      file = { src: vfsKey, name: sidecarName(name), size };
      digest = createHash('sha256');
    },
    data: (bytes) => digest.update(bytes),
    fileEnd: () => {
      if (file) files.push({ ...file, sha256: digest.digest('hex') });
    },
  });
}

/** The header of a bundle that is all there. */
export function headerOf(bytes: Uint8Array): BundleHeader {
  const header = readBundleHeader(bytes, true);
  if (header === undefined) throw new Error('a header that is all there asks for more');
  return header;
}
