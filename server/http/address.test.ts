import { expect, test } from 'bun:test';
import { shareOf } from './address.ts';

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
