import { describe, expect, it } from '@jest/globals';
import { readUpSettings } from '../../src/up/settings.ts';

const port = (env: NodeJS.ProcessEnv, asked?: number) => readUpSettings(env, { port: asked }).port;

describe('the port of up', () => {
  it('is what was asked for, else the setting, else 7080', () => {
    expect(port({ QUICKSILVER_PORT: '7090' }, 0)).toBe(0);
    expect(port({ QUICKSILVER_PORT: '7090' })).toBe(7090);
    expect(port({ QUICKSILVER_PORT: '' })).toBe(7080);
  });

  it.each(['abc', '65536', '-1', '7 0'])('is not taken for another where the setting is %j', (text) => {
    expect(() => port({ QUICKSILVER_PORT: text })).toThrow('QUICKSILVER_PORT cannot be used');
  });
});
