import { describe, expect, test } from 'bun:test';
import { isAllowedAddress, parseNetworks, urlProblem } from './network-policy.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.1',
  '192.167.255.255',
  '100.63.255.255',
  '100.128.0.1',
  '169.253.1.1',
  '223.255.255.254',
  '2606:4700:4700::1111',
  '2a00:1450:4001:830::200e',
];

const REFUSED: readonly (readonly [address: string, description: string])[] = [
  ['0.0.0.0', 'this host'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'shared'],
  ['100.100.100.200', "Alibaba's metadata"],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'metadata'],
  ['169.254.170.2', 'credentials of a container'],
  ['168.63.129.16', "Azure's wire server"],
  ['192.0.0.192', "Oracle's metadata"],
  ['192.0.0.1', 'protocol assignments'],
  ['192.0.2.1', 'documentation'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['192.88.99.1', '6to4 relays'],
  ['198.18.0.1', 'benchmarks'],
  ['198.19.255.255', 'benchmarks'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'this host'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'IPv4-mapped'],
  ['::ffff:8.8.8.8', 'IPv4-mapped'],
  ['::ffff:7f00:1', 'IPv4-mapped'],
  ['::ffff:0:8.8.8.8', 'IPv4-translated'],
  ['64:ff9b::169.254.169.254', 'NAT64'],
  ['64:ff9b::8.8.8.8', 'NAT64'],
  ['64:ff9b:1::1', 'local NAT64'],
  ['2002:7f00:1::', '6to4'],
  ['2002:808:808::1', '6to4'],
  ['2001::1', 'Teredo'],
  ['2001:2::1', 'benchmarks'],
  ['2001:10::1', 'ORCHID'],
  ['2001:20::1', 'ORCHID'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['100::1', 'discard'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', "Amazon's metadata"],
  ['fd20:ce::254', "Google's metadata"],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['5f00::1', 'segment routing'],
  ['4000::1', 'not given out'],
  ['', 'nothing'],
  ['localhost', 'a name'],
  ['1.1.1', 'short'],
  ['0x08.8.8.8', 'hexadecimal'],
  ['134744072', 'a number'],
];

describe('[H-12] webhooks', () => {
  test.each(PUBLIC)('webhooks reach %s', (address) => {
    expect(isAllowedAddress(address, [])).toBe(true);
  });

  test.each(REFUSED)('webhooks do not reach %s (%s)', (address) => {
    expect(isAllowedAddress(address, [])).toBe(false);
  });

  test('webhooks reach the networks that the operator allows, and no others', () => {
    const allowed = parseNetworks('10.1.0.0/16, 192.168.7.7,fd00:1::/32');
    for (const address of ['10.1.2.3', '192.168.7.7', 'fd00:1::5', '8.8.8.8']) {
      expect([address, isAllowedAddress(address, allowed)]).toEqual([address, true]);
    }
    for (const address of [
      '10.2.0.1',
      '192.168.7.8',
      'fd00:2::5',
      '::ffff:10.1.2.3',
      '127.0.0.1',
    ]) {
      expect([address, isAllowedAddress(address, allowed)]).toEqual([address, false]);
    }
  });
});

describe('[H-3] the URL of a webhook', () => {
  const strict = { allowHttp: false, allowPrivate: [] };
  test.each([
    'https://hooks.example.org/a?b=c',
    'https://hooks.example.org:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
  ])('%s is allowed', (url) => {
    expect(urlProblem(url, strict)).toBeNull();
  });

  // Some of these spellings become an address only in a WHATWG URL parser.
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://169.254.169.254/latest/meta-data',
  ])('%s is refused: it leads to no public address', (url) => {
    expect(urlProblem(url, strict)).toBe('must lead to a public address');
  });

  test('the URL of a webhook may be http only when the operator allows it', () => {
    expect(urlProblem('http://hooks.example.org/', strict)).toBe('must be https');
    expect(urlProblem('http://hooks.example.org/', { ...strict, allowHttp: true })).toBeNull();
  });
});

test.each(['10.0.0.0/33', '10.0.0.0/8;', 'fd00::/129', 'example.org', '10.0.0.0/8,,', ' '])(
  '[O-8] "%s" is rejected as a list of networks',
  (text) => {
    expect(() => parseNetworks(text)).toThrow(/^It must be a list of networks/);
  },
);
