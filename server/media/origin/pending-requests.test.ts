import { expect, test } from 'bun:test';
import { FakeStream } from '../../../test/support/media/origin-fixture.ts';
import { Unavailable } from '../../platform/errors.ts';
import { type PendingClient, PendingRequests } from './pending-requests.ts';

const LONG_MS = 60_000;
const never = new AbortController().signal;
const client = { key: '192.0.2.1', signal: never };

test('[M-30] requests beyond the limit are refused', async () => {
  const pending = new PendingRequests({ total: 2, client: 2 });
  const stream = new FakeStream();
  const isReady = () => false;
  const first = [1, 2].map((n) => pending.waitUntil(stream, `${n}`, isReady, LONG_MS, client));
  const third = pending.waitUntil(stream, '3', isReady, LONG_MS, client);
  const outcomes = Promise.allSettled([...first, third]);
  await third.catch(() => {});
  expect(pending.count).toBe(2);
  pending.drain();
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  }
  await expect(pending.waitUntil(stream, '4', isReady, LONG_MS, client)).rejects.toThrow(
    'stopping',
  );
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
    pending.waitUntil(stream, 'resource', isReady, LONG_MS, client),
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
  await expect(pending.waitUntil(stream, 'resource', () => false, 1, client)).rejects.toThrow(
    'not available yet',
  );
  await pending.waitUntil(stream, 'resource', () => true, LONG_MS, client);
  expect(pending.count).toBe(0);
});

test('[M-30] one client leaves room for others, and none waits once it has disconnected', async () => {
  const pending = new PendingRequests({ total: 4, client: 3 });
  const stream = new FakeStream();
  const disconnect = new AbortController();
  const many = { key: '192.0.2.1', signal: disconnect.signal };
  const wait = (from: PendingClient) => pending.waitUntil(stream, 'a', () => false, LONG_MS, from);
  const waiting = Promise.allSettled([wait(many), wait(many), wait(many)]);
  await expect(wait(many)).rejects.toThrow('Too many requests');
  const other = Promise.allSettled([wait({ key: '192.0.2.2', signal: never })]);
  expect(pending.count).toBe(4);
  disconnect.abort();
  await waiting;
  expect(pending.count).toBe(1);
  await expect(wait(many)).rejects.toThrow(Unavailable);
  pending.drain();
  await other;
  expect(pending.count).toBe(0);
});

test('[M-30] many clients of one network leave room for others', async () => {
  const pending = new PendingRequests({ total: 4, client: 1 });
  const stream = new FakeStream();
  const wait = (key: string) =>
    pending.waitUntil(stream, 'a', () => false, LONG_MS, { key, signal: never });
  const many = [1, 2, 3, 4].map((n) => wait(`2001:db8:1:${n}::/64`));
  const outcomes = Promise.allSettled(many);
  const replaced = Promise.allSettled(many.slice(0, 2));
  const others = Promise.allSettled([wait('2001:db8:2:1::/64'), wait('2001:db8:2:2::/64')]);
  for (const outcome of await replaced) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  }
  expect(pending.count).toBe(4);
  await expect(wait('2001:db8:2:3::/64')).rejects.toThrow('Too many requests');
  pending.drain();
  await Promise.all([outcomes, others]);
  expect(pending.count).toBe(0);
});

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('[M-30] requests for the same resource are released over several turns of the event loop', async () => {
  const pending = new PendingRequests();
  const stream = new FakeStream();
  let released = 0;
  const wait = (signal: AbortSignal) =>
    pending.waitUntil(stream, 'a', ({ epochs }) => epochs.length > 0, LONG_MS, {
      ...client,
      signal,
    });
  // Those that have disconnected take no turn of the others.
  const disconnect = new AbortController();
  const disconnected = Array.from({ length: 1_000 }, () => wait(disconnect.signal));
  const waiting = Array.from({ length: 1_000 }, () => wait(never).then(() => released++));
  const outcomes = Promise.allSettled([...disconnected, ...waiting]);
  disconnect.abort();
  stream.startEpoch();
  const releasedByTurn: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const before = released;
    await nextTurn();
    releasedByTurn.push(released - before);
  }
  expect(releasedByTurn).toEqual([200, 200, 200, 200, 200]);
  await outcomes;
  expect(pending.count).toBe(0);
});

test('[M-30] a request that disconnects before its release ends at once', async () => {
  const pending = new PendingRequests();
  const stream = new FakeStream();
  const disconnect = new AbortController();
  const wait = (signal: AbortSignal) =>
    pending.waitUntil(stream, 'a', ({ epochs }) => epochs.length > 0, LONG_MS, {
      ...client,
      signal,
    });
  const first = Promise.all(Array.from({ length: 300 }, () => wait(never)));
  const last = wait(disconnect.signal);
  stream.startEpoch();
  await nextTurn();
  expect(pending.count).toBe(101);
  disconnect.abort();
  await expect(last).rejects.toThrow(Unavailable);
  expect(pending.count).toBe(100);
  await first;
  expect(pending.count).toBe(0);
});
