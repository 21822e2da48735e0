import { expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { WorkerGatewayBackend } from './worker-gateway-backend.ts';

const holder = { onSealed: () => {}, onFailed: () => {} };

function fixture() {
  const service = new WorkerGatewayBackend(
    {
      ...{ kind: 'start', host: null, port: 0, path: '/nowhere', secret: 'secret' },
      ...{ corsOrigin: '*', edgeCache: false, tokenCacheSize: 10, sealed: 0 },
      allow: { heartbeats: 'POST', feed: 'GET' },
      time: new Float64Array(new SharedArrayBuffer(8)),
      unavailable: { registrations: null, feed: null },
    },
    { nowMs: () => 250_000 },
    { verify: async () => null, readSealed: async () => [] },
  );
  const failure = (work: () => void): unknown => {
    try {
      work();
      return null;
    } catch (error) {
      return error;
    }
  };
  const register = () => failure(() => service.heartbeats?.presence.register('stream', 1, 250_000));
  const hold = () => failure(() => service.log.waitFor('stream', 1_000, holder));
  return { service, register, hold };
}

test('[N-9] a thread says no by itself while a backend is unavailable, and passes on what it does not know', () => {
  const { service, register, hold } = fixture();
  expect(register()).not.toBeInstanceOf(Unavailable);
  expect(hold()).toBeNull();
  service.unavailable = { registrations: 'Redis is unavailable.', feed: 'Sealing is stalled.' };
  expect(register()).toEqual(new Unavailable('Redis is unavailable.'));
  expect(hold()).toEqual(new Unavailable('Sealing is stalled.'));
  service.unavailable = { registrations: null, feed: null };
  expect(hold()).toBeNull();
});

test('[O-12] [O-13] whom a thread told so is reported once, with the first of them for the log', () => {
  const { service } = fixture();
  const { feed, heartbeats } = service;
  expect(feed?.logUnavailable('mine', new Unavailable('away'))).toBe('mine');
  expect(feed?.logUnavailable(null, new Unavailable('late'))).toMatch(/^[0-9a-f]{8}-0$/);
  feed?.counter.countImmediate(503);
  feed?.counter.countImmediate(503);
  expect(service.report()).toMatchObject({
    rejected: { heartbeats: null, intervals: { count: 2, requestId: 'mine', reason: 'away' } },
    intervals: { statuses: [[503, 2]] },
  });
  heartbeats?.logUnavailable(null, new Unavailable('away'));
  const { rejected, intervals } = service.report();
  expect([rejected.heartbeats?.count, rejected.intervals, intervals.statuses]).toEqual([
    1,
    null,
    [],
  ]);
});
