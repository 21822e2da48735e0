import { expect, test } from 'bun:test';
import { admissionOf, SLOTS_PER_PAGE, TokenCache } from './checked-viewers.ts';

const START = 'header.'.repeat(30);

/** A text as long as an issued token, with a different end for each number. */
const tokenOf = (n: number, start = START) => `${start}${String(n).padStart(200, '-')}`;

function setUp(max = 10_000) {
  const clock = { ms: 1_000_000 };
  const tokens = new TokenCache(max, () => clock.ms);
  const keep = (token: string, seat: number, expiresMs = clock.ms + 600_000, streamId = 's') =>
    tokens.put(token, { streamId, seat, expiresMs });
  const seatOf = (token: string) => tokens.get(token)?.seat;
  return { clock, tokens, keep, seatOf };
}

test('[T-12] the token cache finds a token only if every byte matches', () => {
  const { tokens, keep } = setUp();
  const token = tokenOf(1);
  keep(token, 7);
  const bytes = Buffer.from(`before${token}behind`);
  const from = 'before'.length;
  const to = from + token.length;
  expect(tokens.find(bytes, from, to)?.seat).toBe(7);
  expect(tokens.find(bytes, from, to)?.token).toBe(token);
  for (const [begin, end] of [
    [0, 1],
    [1, 0],
    [-1, 0],
    [0, -1],
    [-6, 6],
  ] as const) {
    expect(tokens.find(bytes, from + begin, to + end)).toBeNull();
  }
  for (let at = 0; at < token.length; at++) {
    const other = `${token.slice(0, at)}~${token.slice(at + 1)}`;
    expect([at, tokens.get(other)]).toEqual([at, null]);
  }
});

test('[T-12] the token cache distinguishes tokens with equal ends or equal beginnings', () => {
  const { keep, seatOf, tokens } = setUp();
  const all = [
    tokenOf(1),
    tokenOf(1, `X${START}`),
    tokenOf(1, `x${START}`),
    tokenOf(2),
    'x.short.one',
  ];
  for (const [seat, token] of all.entries()) keep(token, seat);
  expect(all.map(seatOf)).toEqual([0, 1, 2, 3, 4]);
  expect(tokens.size).toBe(5);
  for (const token of all) expect(seatOf(`${token}1`)).toBeUndefined();
});

test('[T-12] the token cache does not confuse characters with equal latin1 bytes', () => {
  const { keep, seatOf } = setUp();
  keep(tokenOf(1), 1);
  // In latin1 this character has the same byte as `1`.
  const last = String.fromCharCode(0x100 + '1'.charCodeAt(0));
  expect(seatOf(`${tokenOf(1).slice(0, -1)}${last}`)).toBeUndefined();
  expect(seatOf(`${tokenOf(1)}${'é'.repeat(2_000)}`)).toBeUndefined(); // too long to cache
  expect(seatOf('')).toBeUndefined();
});

test('caching a token again replaces its entry', () => {
  const { tokens, keep, seatOf } = setUp();
  keep(tokenOf(1), 1);
  keep(tokenOf(1), 2);
  expect([tokens.size, seatOf(tokenOf(1))]).toEqual([1, 2]);
});

test('a full token cache keeps its size, and evicts a frequently used token at most once', () => {
  const { tokens, keep, seatOf } = setUp(100);
  let evictions = 0;
  for (let n = 0; n < 10_000; n++) {
    keep(tokenOf(n), n);
    expect(tokens.size).toBe(Math.min(n + 1, 100));
    if (n % 20 !== 0) continue;
    if (seatOf(tokenOf(0)) !== undefined) continue;
    evictions++;
    keep(tokenOf(0), 0);
  }
  expect(evictions).toBeLessThan(2);
  expect(seatOf(tokenOf(9_999))).toBe(9_999);
  expect(seatOf(tokenOf(1))).toBeUndefined();
});

test('[T-6] removing expired tokens frees their slots and keeps the others', () => {
  const { clock, tokens, keep, seatOf } = setUp(3 * SLOTS_PER_PAGE);
  const count = 3 * SLOTS_PER_PAGE;
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < count; n++) keep(tokenOf(n), n, clock.ms + (n % 2 === 0 ? 1_000 : 3_000));
    expect(tokens.size).toBe(count);
    clock.ms += 2_000;
    tokens.removeExpired();
    expect(tokens.size).toBe(count / 2);
    for (let n = 0; n < count; n++) expect(seatOf(tokenOf(n))).toBe(n % 2 === 0 ? undefined : n);
    clock.ms += 2_000;
    expect(tokens.getValid(tokenOf(1))).toBeNull();
    tokens.removeExpired();
    expect(tokens.size).toBe(0);
  }
});

test('[T-13] a cached token keeps its stream', () => {
  const { tokens, keep } = setUp();
  keep(tokenOf(1), 1, undefined, 'a');
  keep(tokenOf(2), 1, undefined, 'b');
  expect(tokens.get(tokenOf(1))?.streamId).toBe('a');
  expect(tokens.get(tokenOf(2))?.streamId).toBe('b');
});

const viewer = { streamId: 'stream', seat: 7, expiresMs: 1_000 };
const noBans = { isBanned: () => false };
const bansViewer = { isBanned: ({ seat }: { seat: number }) => seat === viewer.seat };

test.each([
  ['[T-13] admissionOf admits a viewer to its stream', 'stream', 999, noBans, 'admitted'],
  ['admissionOf admits a viewer when the request names no stream', null, 999, noBans, 'admitted'],
  ['[T-13] admissionOf refuses a viewer of another stream', 'other', 999, noBans, 'wrong-stream'],
  ['[T-6] admissionOf refuses an expired token', 'stream', 1_000, noBans, 'expired'],
  ['[C-19] admissionOf refuses a banned viewer', 'stream', 999, bansViewer, 'banned'],
  ['admissionOf reports expiry before any other reason', 'other', 1_000, bansViewer, 'expired'],
  ['admissionOf reports the wrong stream before a ban', 'other', 999, bansViewer, 'wrong-stream'],
] as const)('%s', (_, streamId, nowMs, bans, admission) => {
  expect(admissionOf(viewer, streamId, nowMs, bans)).toBe(admission);
});
