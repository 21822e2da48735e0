import { expect, test } from 'bun:test';
import { KnownDevices } from './known-devices.ts';

const EMAIL = 'ada@example.org';
const randomBytes = (n: number) => crypto.getRandomValues(new Uint8Array(n));
const devices = new KnownDevices('secret', randomBytes);

test('[L-16] a device is known for the email that signed in, on every node', () => {
  const cookie = devices.issue(EMAIL);
  const id = devices.find(cookie, EMAIL);
  expect(cookie).toStartWith(`${id}.`);
  expect(new KnownDevices('secret', randomBytes).find(cookie, EMAIL)).toBe(id);
  expect(devices.find(devices.issue(EMAIL), EMAIL)).not.toBe(id);
});

test('[L-16] a cookie of another email, of another service or altered is of no device', () => {
  const cookie = devices.issue(EMAIL);
  const [id = '', signature = ''] = cookie.split('.');
  const foreign = new KnownDevices('other', randomBytes).issue(EMAIL);
  const altered = `${id.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}.${signature}`;
  expect(devices.find(cookie, 'bob@example.org')).toBeNull();
  for (const value of [null, '', id, foreign, altered, `${cookie}A`]) {
    expect(devices.find(value, EMAIL)).toBeNull();
  }
});
