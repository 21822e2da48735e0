import { expect, test } from 'bun:test';
import { SynCookies } from './syn-cookie.ts';

const cookies = new SynCookies(new Uint8Array(32).fill(1));
const NOW_MS = 1_800_000;

test('[M-16] a cookie is valid for its address, port and process, for one to two minutes', () => {
  const cookie = cookies.create('192.0.2.1', 5_000, NOW_MS);
  const isValid = (address: string, port: number, nowMs: number) =>
    cookies.verify(cookie, address, port, nowMs);
  expect(isValid('192.0.2.1', 5_000, NOW_MS)).toBe(true);
  expect(isValid('192.0.2.1', 5_000, NOW_MS + 119_999)).toBe(true);
  expect(isValid('192.0.2.1', 5_000, NOW_MS + 120_000)).toBe(false);
  expect(isValid('192.0.2.1', 5_001, NOW_MS)).toBe(false);
  expect(isValid('192.0.2.2', 5_000, NOW_MS)).toBe(false);
  const others = new SynCookies(new Uint8Array(32).fill(2));
  expect(others.verify(cookie, '192.0.2.1', 5_000, NOW_MS)).toBe(false);
});
