import { expect, test } from 'bun:test';
import { KnownDevices } from './known-devices.ts';
import { DEVICE_LIFETIME_MS } from './member-rules.ts';

const EMAIL = 'ada@example.org';
const ADA = { uuid: crypto.randomUUID(), email: EMAIL };
const NOW_MS = 1_700_000_000_000;
const randomBytes = (n: number) => crypto.getRandomValues(new Uint8Array(n));
const devices = new KnownDevices('secret', randomBytes);

test('[L-16] a device is known for the member that signed in, on every node', () => {
  const cookie = devices.issue(ADA, NOW_MS);
  const device = devices.find(cookie, EMAIL, NOW_MS);
  expect(device?.member).toBe(ADA.uuid);
  expect(cookie).toStartWith(`${device?.id}.`);
  expect(new KnownDevices('secret', randomBytes).find(cookie, EMAIL, NOW_MS)).toEqual(device);
  expect(devices.find(devices.issue(ADA, NOW_MS), EMAIL, NOW_MS)?.id).not.toBe(device?.id);
});

test('[L-16] a device is known for a year', () => {
  const cookie = devices.issue(ADA, NOW_MS);
  expect(devices.find(cookie, EMAIL, NOW_MS + DEVICE_LIFETIME_MS - 1)).not.toBeNull();
  expect(devices.find(cookie, EMAIL, NOW_MS + DEVICE_LIFETIME_MS)).toBeNull();
});

test('[L-16] a cookie of another email, of another service or altered is of no device', () => {
  const cookie = devices.issue(ADA, NOW_MS);
  const [id = '', member = '', issuedMs = '', signature = ''] = cookie.split('.');
  const foreign = new KnownDevices('other', randomBytes).issue(ADA, NOW_MS);
  const firstChanged = id.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  expect(devices.find(cookie, 'bob@example.org', NOW_MS)).toBeNull();
  const altered = [
    [firstChanged, member, issuedMs, signature],
    [id, crypto.randomUUID(), issuedMs, signature],
    [id, member, NOW_MS + 1, signature],
    [id, signature],
  ].map((parts) => parts.join('.'));
  for (const value of [null, '', id, foreign, `${cookie}A`, ...altered]) {
    expect(devices.find(value, EMAIL, NOW_MS)).toBeNull();
  }
});
