import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { headerOf, PartFacts } from './support/describe.ts';
import { fixtureBytes, fixtureNames, type SidecarPart, sidecar } from './support/fixtures.ts';

const STREAMS = [...fixtureNames('stream', /\.stream-v2\.hg$/), ...fixtureNames('hg6', /\.stream-v2\.hg$/)];

/** What a sidecar says about a part, without what this package does not look at. */
function facts(part: SidecarPart): SidecarPart {
  return {
    type: part.type,
    raw_type: part.raw_type,
    mandatory: part.mandatory,
    id: part.id,
    mandatory_params: part.mandatory_params,
    advisory_params: part.advisory_params,
    header_size: part.header_size,
    payload_size: part.payload_size,
    payload_sha256: part.payload_sha256,
    ...(part.files ? { files: part.files } : {}),
  };
}

describe.each(STREAMS)('%s', (path) => {
  const bytes = fixtureBytes(path);
  const golden = sidecar(path);
  const header = headerOf(bytes);

  it('has the header of its sidecar', () => {
    expect(header.kind).toBe(golden.container.magic);
    expect(header).toMatchObject({ compression: 'none' });
    const params = header.kind === 'HG20' ? [...header.params.values()].map(({ name, value }) => [name, value]) : [];
    expect(params).toEqual(golden.container.params);
    const body = bytes.subarray(header.bodyOffset);
    expect(body.length).toBe(golden.decompressed_body_size);
    expect(createHash('sha256').update(body).digest('hex')).toBe(golden.decompressed_body_sha256);
  });

  it('has the parts, parameters and files of its sidecar', () => {
    const reading = new PartFacts(header.bodyOffset);
    reading.decoder.push(bytes.subarray(header.bodyOffset));
    reading.decoder.end();
    expect(reading.parts).toEqual(golden.parts?.map(facts));
    expect(reading.decoder.trailing).toBe(golden.trailing_after_end);
    expect(reading.decoder.offset).toBe(bytes.length);
  });
});
