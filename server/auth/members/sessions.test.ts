import { beforeEach, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { hashSecret } from './one-time-secret.ts';
import { Sessions } from './sessions.ts';
import type { SessionRow } from './sessions-sql.ts';

const SECRET = 'a'.repeat(43);
const MINUTE_MS = 60_000;
const BEGUN_MS = 5_000;
const request = new Request('http://localhost/', { headers: { Cookie: `fourbeat=${SECRET}` } });

const row = (role: 'host' | 'moderator' = 'host'): SessionRow => ({
  hash: hashSecret(SECRET),
  created: 0,
  seen: 0,
  member: { uuid: 'm', email: 'ada@example.org', name: 'Ada', role, created: 0 },
  account: { uuid: 'a', email: 'ada@example.org', name: 'Ada', created: 0 },
});

let kept: SessionRow | null;
let nowMs: number;
let monotonicMs: number;
let reads: number;
let touched: number[];
/** What a read waits for, so that something can happen before its answer is there. */
let delay: Promise<void>;
let canWrite: boolean;
let sessions: Sessions;

beforeEach(() => {
  kept = row();
  nowMs = 0;
  monotonicMs = BEGUN_MS;
  reads = 0;
  touched = [];
  delay = Promise.resolve();
  canWrite = true;
  sessions = new Sessions({
    store: {
      findSession: async () => {
        reads++;
        const found = kept;
        await delay;
        return found;
      },
      touchSession: async ({ nowMs: atMs }) => {
        if (!canWrite) throw new Unavailable('The database is unavailable.');
        touched.push(atMs);
        if (kept) kept = { ...kept, seen: atMs };
      },
    },
    clock: { nowMs: () => nowMs },
    originOf: () => 'http://localhost',
    monotonicMs: () => monotonicMs,
  });
});

const roleNow = async () => (await sessions.findByRequest(request))?.member.role ?? null;

test('[U-8] a session is read once a second, and what changed elsewhere is known after it', async () => {
  expect(await roleNow()).toBe('host');
  kept = row('moderator');
  monotonicMs = BEGUN_MS + 999;
  expect([await roleNow(), reads]).toEqual(['host', 1]);
  monotonicMs = BEGUN_MS + 1_001;
  expect([await roleNow(), reads]).toEqual(['moderator', 2]);
  kept = null;
  monotonicMs = BEGUN_MS + 2_002;
  expect(await roleNow()).toBeNull();
});

test('[U-8] the second counts from when the database was asked, not from its answer', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  delay = promise;
  const asked = roleNow();
  monotonicMs = BEGUN_MS + 900;
  resolve();
  expect(await asked).toBe('host');
  kept = null;
  monotonicMs = BEGUN_MS + 1_001;
  expect(await roleNow()).toBeNull();
});

test('[U-8] what this node changed it knows at once', async () => {
  expect(await roleNow()).toBe('host');
  kept = null;
  sessions.clearCache();
  expect(await roleNow()).toBeNull();
});

test('[U-8] a read that was under way during a change is not remembered', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  delay = promise;
  const asked = roleNow();
  kept = null;
  sessions.clearCache();
  resolve();
  await asked;
  expect(await roleNow()).toBeNull();
});

test('[U-5] its use is noted each 5 minutes, and lets it live on', async () => {
  await roleNow();
  nowMs = 5 * MINUTE_MS - 1;
  await roleNow();
  expect(touched).toEqual([]);
  nowMs = 5 * MINUTE_MS;
  expect((await sessions.findByRequest(request))?.seen).toBe(nowMs);
  await roleNow();
  expect(touched).toEqual([nowMs]);
});

test('[U-5] a use that cannot be noted now is noted later, and ends nothing', async () => {
  nowMs = 6 * MINUTE_MS;
  canWrite = false;
  expect(await roleNow()).toBe('host');
  canWrite = true;
  nowMs++;
  expect(await roleNow()).toBe('host');
  expect(touched).toEqual([nowMs]);
});

test('[U-5] once its time is up it is none, also when it is remembered', async () => {
  nowMs = 12 * 60 * MINUTE_MS - 1;
  expect(await roleNow()).toBe('host');
  kept = row();
  sessions.clearCache();
  nowMs = 12 * 60 * MINUTE_MS;
  expect(await roleNow()).toBeNull();
});

test('[U-7] the token of a page goes with its cookie, and nothing that is kept tells it', async () => {
  const { csrf, ...others } = (await sessions.findByRequest(request)) ?? { csrf: '' };
  expect(csrf).toMatch(/^[\w-]{43}$/);
  expect(JSON.stringify(others)).not.toContain(csrf);
  const other = new Request('http://localhost/', {
    headers: { Cookie: `fourbeat=${'b'.repeat(43)}` },
  });
  expect((await sessions.findByRequest(other))?.csrf).not.toBe(csrf);
});

test('[U-3] a request without a cookie, or with what is none, does not reach the database', async () => {
  for (const headers of [{}, { Cookie: 'a=b' }, { Cookie: 'fourbeat=x' }]) {
    expect(await sessions.findByRequest(new Request('http://localhost/', { headers }))).toBeNull();
  }
  expect(reads).toBe(0);
});
