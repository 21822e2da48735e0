import { expect, test } from 'bun:test';
import {
  CLIENT_HEADER,
  clientKey,
  clientRateKey,
  type Listener,
  networkOf,
  rateLimitKey,
} from './address.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['unknown', 'unknown'],
  ['', ''],
])('[L-11] the rate limit key of %p is %p', (address, key) => {
  expect(rateLimitKey(address)).toBe(key);
});

test('[L-11] all addresses of an IPv6 /64 network have one rate limit key', () => {
  const addresses = Array.from({ length: 300 }, (_, n) => `2001:db8:7:9:${n.toString(16)}::${n}`);
  expect(new Set(addresses.map(rateLimitKey)).size).toBe(1);
  expect(rateLimitKey('2001:db8:7:a::1')).not.toBe(rateLimitKey('2001:db8:7:9::1'));
});

const DIRECT = { server: { requestIP: () => ({ address: '192.0.2.9' }) } };
const BEHIND_GATEWAY: Listener = { ...DIRECT, relaySecret: 's3cret' };

function relayedKey(listener: Listener, ...values: string[]): string {
  const headers = new Headers();
  for (const value of values) headers.append(CLIENT_HEADER, value);
  return clientRateKey(new Request('http://localhost/', { headers }), listener, false);
}

test('[L-11] the client address is the one that the gateway sends with its secret', () => {
  expect(relayedKey(BEHIND_GATEWAY, 's3cret 198.51.100.7')).toBe('198.51.100.7');
  expect(relayedKey(BEHIND_GATEWAY, 's3cret ::ffff:198.51.100.7')).toBe('198.51.100.7');
  expect(relayedKey(BEHIND_GATEWAY, 's3cret fe80::1%eth0')).toBe('fe80:0:0:0::/64');
});

test('[L-11] client addresses that the client itself sends are ignored behind the gateway', () => {
  const forged = ['203.0.113.1', 's3cret 203.0.113.1', ', s3cret 203.0.113.1'];
  for (const value of forged) {
    expect(relayedKey(BEHIND_GATEWAY, 's3cret 198.51.100.7', value)).toBe('198.51.100.7');
  }
});

test.each([
  ['', '192.0.2.9'],
  ['203.0.113.1', '192.0.2.9'],
  ['s3cret', '192.0.2.9'],
  ['S3CRET 203.0.113.1', '192.0.2.9'],
  ['s3cret2 203.0.113.1', '192.0.2.9'],
  ['undefined 203.0.113.1', '192.0.2.9'],
])('[L-11] the client header %p without the secret is ignored', (value, address) => {
  expect(relayedKey(BEHIND_GATEWAY, value)).toBe(address);
  expect(relayedKey(DIRECT, value)).toBe(address);
});

test('[L-11] the client header is ignored when there is no gateway secret', () => {
  expect(relayedKey(DIRECT, 's3cret 203.0.113.1')).toBe('192.0.2.9');
});

test('[L-11] with a trusted proxy before the gateway, the last X-Forwarded-For entry counts', () => {
  const headers = {
    [CLIENT_HEADER]: 's3cret 127.0.0.1',
    'X-Forwarded-For': '1.1.1.1, 198.51.100.8',
  };
  const request = new Request('http://localhost/', { headers });
  expect(clientRateKey(request, BEHIND_GATEWAY, true)).toBe('198.51.100.8');
  expect(clientRateKey(request, BEHIND_GATEWAY, false)).toBe('127.0.0.1');
});

function forwardedKey(entries: string): string {
  const request = new Request('http://localhost/', { headers: { 'X-Forwarded-For': entries } });
  return clientRateKey(request, DIRECT, true);
}

test.each([
  ['198.51.100.8:5678', '198.51.100.8'],
  ['10.0.0.1:1, 198.51.100.8:65535', '198.51.100.8'],
  ['[2001:db8:1:2::3]:443', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::3]', '2001:db8:1:2::/64'],
  ['[::ffff:198.51.100.8]:9', '198.51.100.8'],
  ['[fe80::1%eth0]:9', 'fe80:0:0:0::/64'],
  ['2001:db8:1:2::3', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['unknown', 'unknown'],
  ['unknown:9', 'unknown'],
  [':9', ':9'],
  ['198.51.100.7, ', '192.0.2.9'],
])('[L-11] for X-Forwarded-For %p the rate limit key is %p', (entries, key) => {
  expect(forwardedKey(entries)).toBe(key);
});

test('[L-11] the port in X-Forwarded-For does not change the rate limit key', () => {
  const ports = Array.from({ length: 300 }, (_, n) => 1024 + n);
  const keys = (host: string) => new Set(ports.map((port) => forwardedKey(`${host}:${port}`)));
  expect(keys('198.51.100.8').size).toBe(1);
  expect(keys('[2001:db8::1]').size).toBe(1);
});

test.each([
  ['2001:db8:1:2::3', '2001:db8:1::/48'],
  ['2001:db8:1:ffff::3', '2001:db8:1::/48'],
  ['198.51.100.8', '198.51.0.0/16'],
  ['::ffff:198.51.100.8', '198.51.0.0/16'],
  ['unknown', null],
])('[L-14] the network of %p is %p, also with further text behind', (address, network) => {
  expect(networkOf(rateLimitKey(address))).toBe(network);
  expect(networkOf(`${rateLimitKey(address)} a.b.c.d@example.org`)).toBe(network);
});

test.each([
  ['2001:db8:1:2::3', '2001:db8:1::/48'],
  ['2001:db8:1:ffff::3', '2001:db8:1::/48'],
  ['198.51.100.8', '198.51.100.8'],
  ['::ffff:198.51.100.8', '198.51.100.8'],
  ['unknown', 'unknown'],
])('[C-8] [M-16] the client of %p is %p', (address, client) => {
  expect(clientKey(rateLimitKey(address))).toBe(client);
});

test('[L-14] other keys than those of clients are of no network', () => {
  for (const key of ['a.b@c.co.uk', '7d2c4a1e-1111-4222-8333-444455556666:12', '1.2.3.4x']) {
    expect(networkOf(key)).toBeNull();
  }
});
