import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, loadConfig } from '../../src/config/load-config.ts';
import { commonSettings, dataPlaneSettings, directories, octalMode, port } from '../../src/config/settings.ts';

const Config = z.object({
  ...commonSettings,
  ...dataPlaneSettings,
  QUICKSILVER_SOURCE_ROOTS: directories,
  QUICKSILVER_PORT: port(7080),
  QUICKSILVER_FILE_MODE: octalMode.optional(),
});
const minimal = { QUICKSILVER_VOLUMES: 'main=/srv/mirrors' };

function problemsOf(env: NodeJS.ProcessEnv): ConfigError {
  try {
    loadConfig(Config, env);
  } catch (err) {
    if (err instanceof ConfigError) return err;
  }
  throw new Error('the configuration was accepted');
}

describe('loadConfig', () => {
  it('fills in what is not set', () => {
    expect(loadConfig(Config, minimal)).toMatchObject({
      REDIS_URL: 'redis://127.0.0.1:6379',
      QUICKSILVER_VOLUMES: [{ name: 'main', path: '/srv/mirrors' }],
      QUICKSILVER_SOURCE_ROOTS: [],
      QUICKSILVER_LOCK_DURATION: 30_000,
      QUICKSILVER_PORT: 7080,
      QUICKSILVER_REDIS_POLICY_OVERRIDE: false,
    });
  });

  it('says of a setting without a default that it is not set', () => {
    expect(problemsOf({}).message).toBe('the configuration cannot be used:\n  QUICKSILVER_VOLUMES: is not set');
  });

  it('takes an empty variable for one that is not set', () => {
    expect(loadConfig(Config, { ...minimal, QUICKSILVER_PORT: '', REDIS_URL: '' })).toMatchObject({
      QUICKSILVER_PORT: 7080,
    });
  });

  it('reads lists, numbers, modes and flags', () => {
    const env = {
      QUICKSILVER_VOLUMES: 'main=/a b,spare=/c',
      QUICKSILVER_SOURCE_ROOTS: '/x::/y',
      QUICKSILVER_CONCURRENCY: '7',
      QUICKSILVER_FILE_MODE: '0640',
      QUICKSILVER_REDIS_POLICY_OVERRIDE: '1',
    };
    expect(loadConfig(Config, env)).toMatchObject({
      QUICKSILVER_VOLUMES: [
        { name: 'main', path: '/a b' },
        { name: 'spare', path: '/c' },
      ],
      QUICKSILVER_SOURCE_ROOTS: ['/x', '/y'],
      QUICKSILVER_CONCURRENCY: 7,
      QUICKSILVER_FILE_MODE: 0o640,
      QUICKSILVER_REDIS_POLICY_OVERRIDE: true,
    });
  });

  it('names every setting that is wrong, and never a value', () => {
    const secret = 'ftp://user:hunter2@host';
    const err = problemsOf({
      REDIS_URL: secret,
      QUICKSILVER_VOLUMES: 'Main=relative,Main=/hunter2',
      QUICKSILVER_LOCK_DURATION: 'hunter2',
      QUICKSILVER_CONCURRENCY: '0',
      QUICKSILVER_PORT: '70000',
      QUICKSILVER_FILE_MODE: '9',
      QUICKSILVER_LOG_LEVEL: 'hunter2',
    });
    expect([...err.settings].sort()).toEqual([
      'QUICKSILVER_CONCURRENCY',
      'QUICKSILVER_FILE_MODE',
      'QUICKSILVER_LOCK_DURATION',
      'QUICKSILVER_LOG_LEVEL',
      'QUICKSILVER_PORT',
      'QUICKSILVER_VOLUMES',
      'REDIS_URL',
    ]);
    expect(err.message).not.toContain('hunter2');
    expect(problemsOf({}).settings).toEqual(['QUICKSILVER_VOLUMES']);
  });

  it.each(['redis://h', 'rediss://u:p@h:1/2', 'unix:///tmp/s', '/tmp/s'])('takes %s as a Redis address', (url) => {
    expect(loadConfig(Config, { ...minimal, REDIS_URL: url }).REDIS_URL).toBe(url);
  });

  it.each(['h:6379', 'http://h', 'tmp/s', 'unix://'])('refuses %s as a Redis address', (url) => {
    expect(problemsOf({ ...minimal, REDIS_URL: url }).settings).toEqual(['REDIS_URL']);
  });
});
