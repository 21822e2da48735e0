import { expect, test } from 'bun:test';
import type { RequestLog } from '../http/request-log.ts';
import { RateLimited } from '../platform/errors.ts';
import type { StudioCaller } from './credentials.ts';
import { JsonText } from './json-text.ts';
import { type AuthorizedRequest, LargeResponses } from './large-responses.ts';

const MB = 1 << 20;

const newLarge = () =>
  new LargeResponses({ requestId: () => 'request-1' } as unknown as RequestLog);

/** A member of an account, or its programs. */
const callerOf = (account: string, member: string | null = null) => {
  const actor = member === null ? { kind: 'token' } : { kind: 'member', uuid: member };
  return { user: { uuid: account }, actor } as unknown as StudioCaller;
};

const requestOf = (caller: StudioCaller, method = 'GET') => {
  const request = new Request('http://127.0.0.1/');
  return { request, route: { operation: { method } }, caller } as unknown as AuthorizedRequest;
};

const isRefused = (check: () => void): boolean => {
  try {
    check();
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(RateLimited);
    return true;
  }
};

test('[L-17] responses count from 64 KB of UTF-8 on, until they are read', async () => {
  const large = newLarge();
  const caller = callerOf('account');
  const respond = (json: string) =>
    new Response(large.json(requestOf(caller), new JsonText([json])));
  // Three bytes each in UTF-8.
  for (let n = 0; n < 2_000; n++) respond('答'.repeat(21_845));
  expect(() => large.check(caller)).not.toThrow();
  const json = '答'.repeat(32 << 10);
  const unread = Array.from({ length: 1_024 }, () => respond(json));
  expect(() => large.check(caller)).toThrow(RateLimited);
  expect(await unread[0]?.text()).toBe(json);
  expect(() => large.check(caller)).not.toThrow();
});

test.each([
  ['ASCII', 'a', MB],
  ['Latin-1, which the database returns with two bytes', 'é', 2 * MB],
  ['one character above U+FFFF', '😀a', 2 * MB],
])('[L-17] responses count what they take in memory: %s', (_, start, memoryBytes) => {
  const large = newLarge();
  const caller = callerOf('account');
  const json = new JsonText([start.padEnd(MB, 'a')]);
  const count = (64 * MB) / memoryBytes;
  for (let n = 0; n < count; n++) {
    expect(() => large.check(caller)).not.toThrow();
    large.json(requestOf(caller), json);
  }
  expect(() => large.check(caller)).toThrow(RateLimited);
});

test('[L-17] with 128 MB unread by an account, only large responses of all its members and programs are refused', () => {
  const large = newLarge();
  const [owner, programs] = [callerOf('account', 'owner'), callerOf('account')];
  const first = large.reserve(requestOf(callerOf('account', 'moderator')), 64 * MB);
  large.reserve(requestOf(programs), 64 * MB - 1);
  expect(isRefused(() => large.checkLarge(owner))).toBe(false);
  large.reserve(requestOf(programs), 1);
  expect(isRefused(() => large.checkLarge(owner))).toBe(true);
  expect(isRefused(() => large.check(owner))).toBe(false);
  expect(isRefused(() => large.checkLarge(callerOf('other')))).toBe(false);
  first();
  first();
  expect(isRefused(() => large.checkLarge(owner))).toBe(false);
});

test('[L-17] with over 512 MB unread on a node, accounts with at least an equal share are refused large responses', () => {
  const large = newLarge();
  const hold = (account: string, bytes: number) =>
    // By two members, who stay below their own limit.
    ['a', 'b'].map((member) =>
      large.reserve(requestOf(callerOf(account, member + account)), bytes / 2),
    );
  const refused = (account: string) => isRefused(() => large.checkLarge(callerOf(account)));
  const accounts = ['1', '2', '3', '4'];
  for (const account of accounts) hold(account, 126 * MB);
  const releases = hold('small', 8 * MB);
  expect(accounts.map(refused)).toEqual([false, false, false, false]);
  hold('other', 2 * MB);
  expect(accounts.map(refused)).toEqual([true, true, true, true]);
  expect(['small', 'other', 'new'].map(refused)).toEqual([false, false, false]);
  for (const release of releases) release();
  expect(accounts.map(refused)).toEqual([false, false, false, false]);
});

test('[L-17] accounts that all have an equal share of over 512 MB are refused, and a new one is not', () => {
  const large = newLarge();
  const accounts = Array.from({ length: 9 }, (_, n) => `${n}`);
  for (const account of accounts) large.reserve(requestOf(callerOf(account)), 60 * MB);
  const refused = (account: string) => isRefused(() => large.checkLarge(callerOf(account)));
  expect(accounts.map(refused)).toEqual(accounts.map(() => true));
  expect(refused('new')).toBe(false);
});

test('[L-17] a large response to a GET is refused when it was made meanwhile, one to a write is sent', () => {
  const large = newLarge();
  for (const member of ['a', 'b']) {
    large.reserve(requestOf(callerOf('account', member)), 64 * MB);
  }
  const caller = callerOf('account', 'owner');
  const respond = (method: string, chars: number) => () => {
    large.json(requestOf(caller, method), new JsonText(['a'.repeat(chars)]));
  };
  expect(isRefused(respond('GET', 64 << 10))).toBe(true);
  expect(isRefused(respond('GET', (64 << 10) - 1))).toBe(false);
  expect(isRefused(respond('POST', 64 << 10))).toBe(false);
});
