import { describe, expect, test } from 'bun:test';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { PLAYBACK_LADDER } from '../../protocol/limits.ts';
import { ROLES } from '../../protocol/operation.ts';
import { createConfig, flagNameOf, SETTING_KEYS, SETTINGS, variableNameOf } from './config.ts';

test('[O-1] [L-4] [L-8] [L-15] [L-16] the configuration has the documented defaults', () => {
  expect(createConfig()).toEqual({
    host: null,
    port: 4250,
    workers: 1,
    data: resolve('fourbeat-data'),
    database: null,
    redis: null,
    redisReplicas: 0,
    roles: new Set(ROLES),
    publicUrl: null,
    corsOrigin: '*',
    trustProxy: false,
    metricsToken: null,
    tokenAuth: 'open',
    edgeCache: false,
    rates: {
      tokens: { points: 6000, durationS: 60 },
      failedAuth: { points: 1200, durationS: 60 },
      answers: { points: 30, durationS: 10 },
      chat: { points: 20, durationS: 10 },
      studio: { points: 1200, durationS: 60 },
      signIn: { points: 30, durationS: 60 },
      passwords: { points: 10, durationS: 60 },
    },
    tokenCacheSize: 200_000,
    webhooks: { allowHttp: false, allowPrivate: [] },
    logLevel: 'info',
    media: {
      directory: resolve('fourbeat-data/media'),
      dvrMs: 7_200_000,
      spaceBytes: 20_000_000_000,
      latency: 'normal',
      segmentMs: 1_000,
      encoder: 'libx264',
      preset: 'veryfast',
      ladder: PLAYBACK_LADDER.map(({ divisor, megabytesPerS }) => ({ divisor, megabytesPerS })),
      ffmpeg: 'ffmpeg',
      rtmpPort: 1935,
      srtPort: 10_080,
      sourceGraceMs: 30_000,
      accountSourcesMax: 2 * availableParallelism(),
    },
  });
});

test('a given value replaces its default, and all other defaults stay', () => {
  const { port, ...others } = createConfig({ port: 1 });
  const { port: _port, ...defaults } = createConfig();
  expect(port).toBe(1);
  expect(others).toEqual(defaults);
});

test('[O-7] a setting is a flag and a variable of the same name', () => {
  expect(flagNameOf('tokenCacheSize')).toBe('token-cache-size');
  expect(variableNameOf('tokenCacheSize')).toBe('FOURBEAT_TOKEN_CACHE_SIZE');
  const flags = SETTING_KEYS.map(flagNameOf);
  expect(new Set(flags).size).toBe(flags.length);
  for (const key of SETTING_KEYS) expect(SETTINGS[key].help).not.toBe('');
});

describe('a value is parsed', () => {
  test.each([
    ['host', '*', null],
    ['host', '127.0.0.1', '127.0.0.1'],
    ['host', '::1', '::1'],
    ['host', 'live.example.org', 'live.example.org'],
    ['port', '0', 0],
    ['port', '65535', 65_535],
    ['data', 'a', resolve('a')],
    ['roles', 'all', new Set(ROLES)],
    ['roles', 'api, auth', new Set(['api', 'auth'])],
    ['publicUrl', 'https://live.example.org/', 'https://live.example.org'],
    ['publicUrl', 'https://example.org/live/', 'https://example.org/live'],
    ['corsOrigin', 'https://app.example.org:8443', 'https://app.example.org:8443'],
    ['trustProxy', 'true', true],
    ['trustProxy', '0', false],
    ['tokenAuth', 'producer', 'producer'],
    ['rateChat', '5/60', { points: 5, durationS: 60 }],
    ['tokenCacheSize', '1', 1],
    ['logLevel', 'silent', 'silent'],
    ['media', '', null],
    ['media', 'video', resolve('video')],
    ['mediaEncoder', 'h264_nvenc', 'h264_nvenc'],
    ['rtmpPort', 'off', null],
    ['srtPort', '0', 0],
  ] as const)('%s %s', (key, text, value) => {
    expect<unknown>(SETTINGS[key].parse(text)).toEqual(value);
  });
});

describe('[O-8] an invalid value is rejected with a reason', () => {
  test.each([
    ['host', 'localhost:4250'],
    ['host', 'http://localhost'],
    ['host', ''],
    ['port', '65536'],
    ['port', '-1'],
    ['port', '1.5'],
    ['port', '0x10'],
    ['port', ''],
    ['port', '4250 '],
    ['data', ''],
    ['data', ' '],
    ['roles', 'api,,auth'],
    ['roles', 'Api'],
    ['roles', ''],
    ['publicUrl', 'live.example.org'],
    ['publicUrl', 'ftp://live.example.org'],
    ['publicUrl', 'https://live.example.org/?a=b'],
    ['publicUrl', 'https://user@live.example.org'],
    ['corsOrigin', 'https://app.example.org/'],
    ['corsOrigin', 'null'],
    ['corsOrigin', ''],
    ['trustProxy', 'yes'],
    ['trustProxy', 'TRUE'],
    ['tokenAuth', 'closed'],
    ['rateTokens', '10'],
    ['rateTokens', '0/10'],
    ['rateTokens', '10/0'],
    ['rateTokens', '-1/10'],
    ['rateTokens', '1e3/10'],
    ['tokenCacheSize', '0'],
    ['logLevel', 'verbose'],
    ['mediaPreset', '-preset'],
    ['mediaLadder', '1:2.4,x'],
    ['rtmpPort', ''],
    ['srtPort', '70000'],
  ] as const)('%s "%s"', (key, text) => {
    expect(() => SETTINGS[key].parse(text)).toThrow(/^It must .*\.$/);
  });
});
