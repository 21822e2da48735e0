import { expect, test } from 'bun:test';
import { addressOf, CLIENT_HEADER, type Listener, shareOf } from './address.ts';

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
])('[L-11] %p counts as %p', (address, share) => {
  expect(shareOf(address)).toBe(share);
});

test('[L-11] who owns a network of IPv6 has one share, however many addresses it uses', () => {
  const addresses = Array.from({ length: 300 }, (_, n) => `2001:db8:7:9:${n.toString(16)}::${n}`);
  expect(new Set(addresses.map(shareOf)).size).toBe(1);
  expect(shareOf('2001:db8:7:a::1')).not.toBe(shareOf('2001:db8:7:9::1'));
});

const OF_SOCKET = { server: { requestIP: () => ({ address: '192.0.2.9' }) } };
const BEHIND_FRONT: Listener = { ...OF_SOCKET, relaySecret: 's3cret' };

function told(listener: Listener, ...values: string[]): string {
  const headers = new Headers();
  for (const value of values) headers.append(CLIENT_HEADER, value);
  return addressOf(new Request('http://localhost/', { headers }), listener, false);
}

test('[L-11] the address is that of the connection to the front, by its word', () => {
  expect(told(BEHIND_FRONT, 's3cret 198.51.100.7')).toBe('198.51.100.7');
  expect(told(BEHIND_FRONT, 's3cret ::ffff:198.51.100.7')).toBe('198.51.100.7');
  expect(told(BEHIND_FRONT, 's3cret fe80::1%eth0')).toBe('fe80:0:0:0::/64');
});

test('[L-11] what a client says of its address after the front is not heard', () => {
  const forged = ['203.0.113.1', 's3cret 203.0.113.1', ', s3cret 203.0.113.1'];
  for (const value of forged) {
    expect(told(BEHIND_FRONT, 's3cret 198.51.100.7', value)).toBe('198.51.100.7');
  }
});

test.each([
  ['', '192.0.2.9'],
  ['203.0.113.1', '192.0.2.9'],
  ['s3cret', '192.0.2.9'],
  ['S3CRET 203.0.113.1', '192.0.2.9'],
  ['s3cret2 203.0.113.1', '192.0.2.9'],
  ['undefined 203.0.113.1', '192.0.2.9'],
])('[L-11] without the secret %p means nothing', (value, address) => {
  expect(told(BEHIND_FRONT, value)).toBe(address);
  expect(told(OF_SOCKET, value)).toBe(address);
});

test('[L-11] where there is no front even its secret means nothing', () => {
  expect(told(OF_SOCKET, 's3cret 203.0.113.1')).toBe('192.0.2.9');
});

test('[L-11] with a proxy in front of the front, the last that the proxy vouches for counts', () => {
  const headers = {
    [CLIENT_HEADER]: 's3cret 127.0.0.1',
    'X-Forwarded-For': '1.1.1.1, 198.51.100.8',
  };
  const request = new Request('http://localhost/', { headers });
  expect(addressOf(request, BEHIND_FRONT, true)).toBe('198.51.100.8');
  expect(addressOf(request, BEHIND_FRONT, false)).toBe('127.0.0.1');
});

function forwarded(entries: string): string {
  const request = new Request('http://localhost/', { headers: { 'X-Forwarded-For': entries } });
  return addressOf(request, OF_SOCKET, true);
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
])('[L-11] of a proxy that tells %p the client is %p', (entries, share) => {
  expect(forwarded(entries)).toBe(share);
});

test('[L-11] each connection of a client counts as that client, whatever port the proxy tells', () => {
  const ports = Array.from({ length: 300 }, (_, n) => 1024 + n);
  const shares = (host: string) => new Set(ports.map((port) => forwarded(`${host}:${port}`)));
  expect(shares('198.51.100.8').size).toBe(1);
  expect(shares('[2001:db8::1]').size).toBe(1);
});
