import { expect, test } from 'bun:test';
import { newSecret } from '../secrets.ts';
import { KnownDevices } from './known-devices.ts';
import { studioCookies } from './session-cookie.ts';

const secret = newSecret((n) => crypto.getRandomValues(new Uint8Array(n)));
const { session: insecure, device } = studioCookies('http://localhost:4250');
const { session: secure } = studioCookies('https://live.example.org');
const requestWith = (cookie: string) =>
  new Request('http://localhost/', { headers: { Cookie: cookie } });

test('[U-3] the session cookie is HttpOnly, SameSite=Strict and valid for 30 days', () => {
  const attributes = ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=2592000'];
  const [pair, ...rest] = insecure.set(secret).split('; ');
  expect(pair).toBe(`fourbeat=${secret}`);
  expect(rest.sort()).toEqual(attributes.sort());
});

test('[U-3] the session cookie over https is Secure and has the __Host- prefix', () => {
  const [pair, ...rest] = secure.set(secret).split('; ');
  expect(pair).toBe(`__Host-fourbeat=${secret}`);
  expect(rest).toContain('Secure');
  expect(secure.read(requestWith(`fourbeat=${secret}`))).toBeNull();
  expect(secure.read(requestWith(`a=b; __Host-fourbeat=${secret}`))).toBe(secret);
});

test('[U-6] clearing the session cookie sends the same attributes without a value', () => {
  expect(secure.clear).toBe(secure.set('').replace('Max-Age=2592000', 'Max-Age=0'));
  expect(insecure.clear).toStartWith('fourbeat=; ');
});

test.each([
  '',
  'fourbeat',
  'fourbeat=',
  'fourbeat=x',
  `fourbeat=${'a'.repeat(44)}`,
  'fourbeat=%zz',
])('[U-3] a malformed session cookie is ignored: %j', (cookie) => {
  expect(insecure.read(requestWith(cookie))).toBeNull();
});

test.each([
  ['among 16 KB of others', `${'a=;'.repeat(5_000)} fourbeat=${secret};${' '.repeat(1_000)}`],
  ['before another of this name', `fourbeat=${secret}; fourbeat=${'b'.repeat(43)}`],
  ['after names and values that contain its name', `xfourbeat=1; a=fourbeat=2;fourbeat=${secret}`],
])('[U-3] the session cookie is found %s', (_, cookie) => {
  expect(insecure.read(requestWith(cookie))).toBe(secret);
});

test('[L-16] the cookie of a device is apart from that of the session, and valid for a year', () => {
  const devices = new KnownDevices('secret', (n) => crypto.getRandomValues(new Uint8Array(n)));
  const ada = { uuid: crypto.randomUUID(), email: 'ada@example.org' };
  const value = devices.issue(ada, 1_700_000_000_000);
  expect(device.set(value)).toStartWith(`fourbeat-device=${value}; `);
  expect(device.set(value)).toContain('Max-Age=31536000');
  const both = requestWith(`fourbeat-device=${value}; fourbeat=${secret}`);
  expect([device.read(both), insecure.read(both)]).toEqual([value, secret]);
});
