import { describe, expect, test } from 'bun:test';
import { type MetricsAccessOptions, requireMetricsAccess } from './metrics-access.ts';
import type { Problem } from './problem.ts';

/** The status of a request from this address; 200 when it may read. */
function statusFrom(
  address: string | null,
  headers: Record<string, string> = {},
  options: Partial<MetricsAccessOptions> = {},
): number {
  const server = { requestIP: () => (address === null ? null : { address }), port: 1 };
  const request = new Request('http://localhost/metrics', { headers });
  try {
    const all = { listener: { server }, trustProxy: false, token: null, ...options };
    requireMetricsAccess(request, all);
    return 200;
  } catch (error) {
    return (error as Problem).status;
  }
}

const LOCAL = [
  ...['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.9'],
  ...['fd00::1', 'fe80::1', '169.254.1.1', '100.64.0.1', '::ffff:10.0.0.1'],
];
const PUBLIC = ['198.51.100.7', '8.8.8.8', '2001:4860::1', '::ffff:8.8.8.8', '172.32.0.1'];

describe('without a token', () => {
  test.each(LOCAL)('[O-12] %s may read the metrics', (address) => {
    expect(statusFrom(address)).toBe(200);
  });

  test.each([...PUBLIC, 'unknown', '', null])('[O-12] %s gets 404', (address) => {
    expect(statusFrom(address)).toBe(404);
  });

  test('[O-12] what an unknown proxy passes on is not local', () => {
    expect(statusFrom('127.0.0.1', { 'X-Forwarded-For': '127.0.0.1' })).toBe(404);
    expect(statusFrom('127.0.0.1', { Forwarded: 'for=10.0.0.1' })).toBe(404);
  });

  test('[O-12] a page of another origin in a local browser gets 404', () => {
    expect(statusFrom('127.0.0.1', { Origin: 'https://evil.example' })).toBe(404);
  });

  test('[O-12] [L-11] with --trust-proxy the address is that which the proxy added', () => {
    const options = { trustProxy: true };
    const from = (forwarded: string) =>
      statusFrom('127.0.0.1', { 'X-Forwarded-For': forwarded }, options);
    expect(from('8.8.8.8')).toBe(404);
    expect(from('127.0.0.1, 8.8.8.8')).toBe(404);
    expect(from('8.8.8.8, 10.0.0.5')).toBe(200);
    expect(statusFrom('10.0.0.5', {}, options)).toBe(200);
  });
});

describe('with a token', () => {
  const options = { token: 'a token of 22 letters!' };

  test('[O-12] every address may read with it, and none without', () => {
    for (const address of ['127.0.0.1', '8.8.8.8']) {
      const authorized = { Authorization: `Bearer ${options.token}` };
      expect(statusFrom(address, authorized, options)).toBe(200);
      expect(statusFrom(address, {}, options)).toBe(401);
      expect(statusFrom(address, { Authorization: 'Bearer another' }, options)).toBe(401);
    }
  });
});
