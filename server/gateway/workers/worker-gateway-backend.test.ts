import { expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { createOpenFiles } from '../../platform/open-files.ts';
import { WorkerGatewayBackend } from './worker-gateway-backend.ts';

const NOW_MS = 250_000;
const INTERVAL = NOW_MS / 250;
const waiter = { onSealed: () => {}, onFailed: () => {} };

function fixture() {
  const backend = new WorkerGatewayBackend(
    {
      ...{ kind: 'start', host: null, port: 0, path: '/nowhere', secret: 'secret' },
      ...{ corsOrigin: '*', edgeCache: false, tokenCacheSize: 10, trustProxy: false, sealed: 0 },
      allow: { heartbeats: 'POST', feed: 'GET' },
      time: new Float64Array(new SharedArrayBuffer(8)),
      unavailable: { registrations: null, feed: null },
      openFiles: createOpenFiles().state,
      threads: 1,
    },
    { nowMs: () => NOW_MS },
    { verify: async () => null, readSealed: async () => [] },
  );
  const errorOf = (work: () => void): unknown => {
    try {
      work();
      return null;
    } catch (error) {
      return error;
    }
  };
  const register = () => errorOf(() => backend.heartbeats?.presence.register('stream', 1, NOW_MS));
  const wait = () => errorOf(() => backend.log.waitFor('stream', INTERVAL, waiter));
  return { backend, register, wait };
}

test('[N-9] a worker throws Unavailable while a backend is unavailable, and another error for an unknown stream', () => {
  const { backend, register, wait } = fixture();
  expect(register()).toEqual(new Error('The main thread must register this seat'));
  expect(wait()).toBeNull();
  backend.unavailable = { registrations: 'Redis is unavailable.', feed: 'Sealing is stalled.' };
  expect(register()).toEqual(new Unavailable('Redis is unavailable.'));
  expect(wait()).toEqual(new Unavailable('Sealing is stalled.'));
  backend.unavailable = { registrations: null, feed: null };
  expect(wait()).toBeNull();
});

test('[S-21] a worker accepts registrations in an archived stream itself', () => {
  const { backend, register } = fixture();
  backend.setArchived('stream');
  expect(register()).toBeNull();
  backend.unavailable = { registrations: 'Redis is unavailable.', feed: null };
  expect(register()).toEqual(new Unavailable('Redis is unavailable.'));
});

test('[O-12] [O-13] a worker reports each 503 once, with the request id and reason of the first', () => {
  const { backend } = fixture();
  const { feed, heartbeats } = backend;
  expect(feed?.logUnavailable('mine', new Unavailable('first'))).toBe('mine');
  expect(feed?.logUnavailable(null, new Unavailable('second'))).toMatch(/^[0-9a-f]{8}-0$/);
  feed?.counter.countImmediate(503);
  feed?.counter.countImmediate(503);
  expect(backend.report()).toMatchObject({
    rejected: { heartbeats: null, intervals: { count: 2, requestId: 'mine', reason: 'first' } },
    intervals: { statuses: [[503, 2]] },
  });
  heartbeats?.logUnavailable(null, new Unavailable('first'));
  const { rejected, intervals } = backend.report();
  expect([rejected.heartbeats?.count, rejected.intervals]).toEqual([1, null]);
  expect(intervals.statuses).toEqual([]);
});
