import { expect, test } from 'bun:test';
import { FakeStream } from '../../../test/support/media/origin-fixture.ts';
import { Unavailable } from '../../platform/errors.ts';
import { PendingRequests } from './pending-requests.ts';

const LONG_MS = 60_000;

test('[M-30] requests beyond the limit are refused', async () => {
  const pending = new PendingRequests(2);
  const stream = new FakeStream();
  const isReady = () => false;
  const first = [1, 2].map((n) => pending.waitUntil(stream, `${n}`, isReady, LONG_MS));
  const third = pending.waitUntil(stream, '3', isReady, LONG_MS);
  const outcomes = Promise.allSettled([...first, third]);
  await third.catch(() => {});
  expect(pending.count).toBe(2);
  pending.drain();
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  }
  await expect(pending.waitUntil(stream, '4', isReady, LONG_MS)).rejects.toThrow('stopping');
  expect(pending.count).toBe(0);
});

test('[M-30] requests for the same resource share one check', async () => {
  const pending = new PendingRequests();
  const stream = new FakeStream().startEpoch();
  let checks = 0;
  const isReady = () => {
    checks++;
    return stream.presentation().segments.length === 2;
  };
  const all = Array.from({ length: 100 }, () =>
    pending.waitUntil(stream, 'resource', isReady, LONG_MS),
  );
  expect([pending.count, checks]).toEqual([100, 1]);
  stream.addSegment();
  await Promise.resolve();
  stream.addSegment();
  await Promise.all(all);
  expect(checks).toBeLessThan(5);
  expect(pending.count).toBe(0);
});

test('[M-30] a request that times out is no longer pending', async () => {
  const pending = new PendingRequests();
  const stream = new FakeStream();
  await expect(pending.waitUntil(stream, 'resource', () => false, 1)).rejects.toThrow(
    'not available yet',
  );
  await pending.waitUntil(stream, 'resource', () => true, LONG_MS);
  expect(pending.count).toBe(0);
});
