import { beforeEach, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { hashSecret } from '../secrets.ts';
import { Sessions } from './sessions.ts';
import type { SessionRow } from './sessions-sql.ts';

const SECRET = 'a'.repeat(43);
const MINUTE_MS = 60_000;
const START_MS = 5_000;
const request = new Request('http://localhost/', { headers: { Cookie: `fourbeat=${SECRET}` } });

const row = (role: 'host' | 'moderator' = 'host'): SessionRow => ({
  hash: hashSecret(SECRET),
  created: 0,
  seen: 0,
  member: { uuid: 'm', email: 'ada@example.org', name: 'Ada', role, created: 0 },
  account: { uuid: 'a', email: 'ada@example.org', name: 'Ada', created: 0 },
});

let stored: SessionRow | null;
let nowMs: number;
let monotonicMs: number;
let reads: number;
let recordedUses: number[];
/** The reads, by whether the session was seen before. */
let calls: ('seen' | 'unseen')[];
/** Delays the results of reads, so that a test can act in between. */
let delay: Promise<void>;
let canWrite: boolean;
let sessions: Sessions;

async function readStored(call: 'seen' | 'unseen'): Promise<SessionRow | null> {
  reads++;
  calls.push(call);
  const found = stored;
  await delay;
  return found;
}

beforeEach(() => {
  calls = [];
  stored = row();
  nowMs = 0;
  monotonicMs = START_MS;
  reads = 0;
  recordedUses = [];
  delay = Promise.resolve();
  canWrite = true;
  sessions = new Sessions({
    store: {
      findSession: () => readStored('seen'),
      findUnseenSession: () => readStored('unseen'),
      recordSessionUse: async ({ nowMs: atMs }) => {
        if (!canWrite) throw new Unavailable('The database is unavailable.');
        recordedUses.push(atMs);
        if (stored) stored = { ...stored, seen: atMs };
      },
    },
    clock: { nowMs: () => nowMs },
    originOf: () => 'http://localhost',
    monotonicMs: () => monotonicMs,
  });
});

const roleNow = async () => (await sessions.findByRequest(request))?.member.role ?? null;

test('[U-8] a session is cached for a second, after which changes by other nodes take effect', async () => {
  expect(await roleNow()).toBe('host');
  stored = row('moderator');
  monotonicMs = START_MS + 999;
  expect([await roleNow(), reads]).toEqual(['host', 1]);
  monotonicMs = START_MS + 1_001;
  expect([await roleNow(), reads]).toEqual(['moderator', 2]);
  stored = null;
  monotonicMs = START_MS + 2_002;
  expect(await roleNow()).toBeNull();
});

test('a session that was found before does not take turns with unknown ones', async () => {
  stored = null;
  expect([await roleNow(), await roleNow()]).toEqual([null, null]);
  stored = row();
  await roleNow();
  monotonicMs = START_MS + 1_001;
  await roleNow();
  expect(calls).toEqual(['unseen', 'unseen', 'unseen', 'seen']);
});

test('[U-8] the second of caching starts when the read starts, not when it returns', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  delay = promise;
  const role = roleNow();
  monotonicMs = START_MS + 900;
  resolve();
  expect(await role).toBe('host');
  stored = null;
  monotonicMs = START_MS + 1_001;
  expect(await roleNow()).toBeNull();
});

test('[U-8] clearCache lets a change by this node take effect at once', async () => {
  expect(await roleNow()).toBe('host');
  stored = null;
  sessions.clearCache();
  expect(await roleNow()).toBeNull();
});

test('[U-8] a read that overlaps clearCache is not cached', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  delay = promise;
  const role = roleNow();
  stored = null;
  sessions.clearCache();
  resolve();
  await role;
  expect(await roleNow()).toBeNull();
});

test('[U-5] the use of a session is recorded every 5 minutes and extends it', async () => {
  await roleNow();
  nowMs = 5 * MINUTE_MS - 1;
  await roleNow();
  expect(recordedUses).toEqual([]);
  nowMs = 5 * MINUTE_MS;
  expect((await sessions.findByRequest(request))?.seen).toBe(nowMs);
  await roleNow();
  expect(recordedUses).toEqual([nowMs]);
});

test('[U-5] a use that cannot be recorded is recorded later and does not end the session', async () => {
  nowMs = 6 * MINUTE_MS;
  canWrite = false;
  expect(await roleNow()).toBe('host');
  canWrite = true;
  nowMs++;
  expect(await roleNow()).toBe('host');
  expect(recordedUses).toEqual([nowMs]);
});

test('[U-5] an expired session is rejected, also when it is cached', async () => {
  nowMs = 12 * 60 * MINUTE_MS - 1;
  expect(await roleNow()).toBe('host');
  stored = row();
  sessions.clearCache();
  nowMs = 12 * 60 * MINUTE_MS;
  expect([await roleNow(), reads]).toEqual([null, 2]);
  expect([await roleNow(), reads]).toEqual([null, 2]);
});

test("[U-7] the CSRF token depends on the cookie's secret and is in no stored data", async () => {
  const { csrf, ...others } = (await sessions.findByRequest(request)) ?? { csrf: '' };
  expect(csrf).toMatch(/^[\w-]{43}$/);
  expect(JSON.stringify(others)).not.toContain(csrf);
  const other = new Request('http://localhost/', {
    headers: { Cookie: `fourbeat=${'b'.repeat(43)}` },
  });
  expect((await sessions.findByRequest(other))?.csrf).not.toBe(csrf);
});

test('[U-3] a request without a cookie, or with a malformed one, does not reach the database', async () => {
  for (const headers of [{}, { Cookie: 'a=b' }, { Cookie: 'fourbeat=x' }]) {
    expect(await sessions.findByRequest(new Request('http://localhost/', { headers }))).toBeNull();
  }
  expect(reads).toBe(0);
});
