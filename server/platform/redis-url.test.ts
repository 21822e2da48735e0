import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseRedisUrl, type RedisAddress } from './redis-url.ts';

const DEFAULTS: RedisAddress = {
  kind: 'single',
  tls: false,
  addresses: [{ host: 'redis', port: 6379 }],
  username: null,
  password: null,
  sentinelUsername: null,
  sentinelPassword: null,
  databaseNumber: 0,
  primaryName: '',
};

const valid: [string, Partial<RedisAddress>][] = [
  ['redis://redis', {}],
  ['redis://redis/', {}],
  ['redis://redis:6380/3', { addresses: [{ host: 'redis', port: 6380 }], databaseNumber: 3 }],
  ['rediss://redis', { tls: true }],
  ['redis://:pass@redis', { password: 'pass' }],
  ['redis://user:pa%40s%2Fs:x@redis', { username: 'user', password: 'pa@s/s:x' }],
  ['redis://[::1]:7000', { addresses: [{ host: '::1', port: 7000 }] }],
  [
    'redis+cluster://a:1,b:2,c',
    {
      kind: 'cluster',
      addresses: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
        { host: 'c', port: 6379 },
      ],
    },
  ],
  ['rediss+cluster://u:p@redis', { kind: 'cluster', tls: true, username: 'u', password: 'p' }],
  [
    'redis+sentinel://redis/main',
    { kind: 'sentinel', addresses: [{ host: 'redis', port: 26379 }], primaryName: 'main' },
  ],
  [
    'rediss+sentinel://:p@redis:1/main/2?sentinel_user=s&sentinel_password=%25',
    {
      kind: 'sentinel',
      tls: true,
      addresses: [{ host: 'redis', port: 1 }],
      password: 'p',
      primaryName: 'main',
      databaseNumber: 2,
      sentinelUsername: 's',
      sentinelPassword: '%',
    },
  ],
];

const invalid: [string, string][] = [
  ['redis:6379', 'It must be redis://host:6379'],
  ['http://redis', 'It must be redis://host:6379'],
  ['redis+sentinels://a/b', 'It must be redis://host:6379'],
  ['redis://', 'It must be redis://host:6379'],
  ['redis://host:65536', 'It must be redis://host:6379'],
  ['redis://host:0', 'It must be redis://host:6379'],
  ['redis://host:x', 'It must be redis://host:6379'],
  ['redis+cluster://a,,b', 'It must be redis://host:6379'],
  ['redis://a,b', 'Several hosts need redis+cluster:// or redis+sentinel://.'],
  ['redis://user@host', 'The password is missing'],
  ['redis://user:@host', 'The password is missing'],
  ['redis://:%zz@host', 'A % in the address'],
  ['redis://host/one', 'must be the number of a database'],
  ['redis://host/1/2', 'must be the number of a database'],
  ['redis+cluster://host/1', 'A cluster has only database 0.'],
  ['redis+sentinel://host', 'The name of the primary is missing'],
  ['redis+sentinel://host/main/x', 'must be the number of a database'],
  ['redis://host/?password=x', 'The only parameters are'],
];

describe('[N-15] the Redis URL', () => {
  test.each(valid)('%s is parsed', (url, parts) => {
    expect(parseRedisUrl(url)).toEqual({ ...DEFAULTS, ...parts });
  });

  test.each(invalid)('%s is rejected', (url, reason) => {
    expect(() => parseRedisUrl(url)).toThrow(reason);
  });

  test('the Redis URL keeps every user, password and list of hosts', () => {
    const host = fc.record({
      host: fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/),
      port: fc.integer({ min: 1, max: 65_535 }),
    });
    const text = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(fc.array(host, { minLength: 1 }), text, text, (addresses, username, password) => {
        const credentials = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
        const hosts = addresses.map((address) => `${address.host}:${address.port}`).join(',');
        const target = parseRedisUrl(`redis+cluster://${credentials}@${hosts}`);
        expect(target).toMatchObject({ username, password, addresses });
      }),
    );
  });

  test('the Redis URL never repeats a password in an error', () => {
    for (const [url] of invalid) {
      const secret = url.replace('://', '://user:tops3cret@');
      const error = (() => {
        try {
          return parseRedisUrl(secret);
        } catch (refused) {
          return refused;
        }
      })();
      expect(String(error)).not.toContain('tops3cret');
    }
  });
});
