import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parseStagingName, stagingName, VolumePaths } from '../src/layout.ts';

describe('the layout of a volume', () => {
  const paths = new VolumePaths('/v');

  it('keeps names as folders for readers and as one segment elsewhere', () => {
    expect(paths.link('mozilla/central')).toBe('/v/mirrors/mozilla/central');
    expect(paths.generation('mozilla/central', 3)).toBe('/v/generations/mozilla%2Fcentral/3');
    expect(paths.receipt('mozilla/central', 3)).toBe('/v/generations/mozilla%2Fcentral/3.json');
    expect(paths.lane('mozilla/central')).toBe('/v/locks/mozilla%2Fcentral');
  });

  it('finds the attempt of everything that an attempt leaves in staging', () => {
    const id = randomUUID();
    const name = stagingName(id, 12);
    for (const suffix of ['', '.write.json', '.receipt', '.link', '.part', `.${randomUUID()}.part`]) {
      expect(parseStagingName(`${name}${suffix}`)).toEqual({ taskId: id, fence: 12 });
    }
  });

  it('takes nothing else for its own', () => {
    for (const name of ['x', 'x.0', 'x.01', 'x.-1', 'x.1.json', '.x.1', '../x.1', 'x.1e3', 'x.1.part.part']) {
      expect(parseStagingName(name)).toBeUndefined();
    }
    expect(() => stagingName('../x', 1)).toThrow(expect.objectContaining({ code: 'HG_USAGE' }));
  });
});
