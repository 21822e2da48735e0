import { afterEach, expect, test } from 'bun:test';
import { until } from '../../../test/support/until.ts';
import type { WorkerReport, WorkerStart } from './messages.ts';
import { WorkerHandle } from './worker-handle.ts';

let thread: WorkerHandle;
afterEach(() => thread.end());

function setUp() {
  const lost: string[] = [];
  const reports: WorkerReport[] = [];
  thread = new WorkerHandle({
    calls: { verify: async () => null, readSealed: async () => [] },
    onReport: (report) => reports.push(report),
    onDefect: (reason) => lost.push(reason),
    onFailed: (reason) => lost.push(reason),
  });
  return { lost, reports };
}

const told = (host: string): WorkerStart => ({
  kind: 'start',
  host,
  port: 0,
  path: '/nowhere',
  secret: 'secret',
  corsOrigin: '*',
  edgeCache: false,
  allow: { heartbeats: 'POST', feed: 'GET' },
  tokenCacheSize: 10,
  sealed: 0,
  time: new Float64Array(new SharedArrayBuffer(8)),
  unavailable: { registrations: null, feed: null },
});

test('a thread that cannot listen says why', async () => {
  setUp();
  const error = await thread.start(told('192.0.2.1')).catch((error: Error) => error);
  expect((error as Error).message).toContain('cannot listen on --host 192.0.2.1');
});

test('[O-22] [R-6] a thread that breaks is told of, once; one that was ended is not', async () => {
  const { lost, reports } = setUp();
  await thread.start(told('127.0.0.1'));
  await until('it reports', () => reports.length > 0);
  thread.send({ kind: 'bans', id: 1, streamId: 'stream', seats: null as never });
  await until('it is lost', () => lost.length > 0);
  expect(lost).toHaveLength(1);
  expect(lost[0]).toStartWith('a worker thread exited: ');
  setUp();
  await thread.start(told('127.0.0.1'));
  thread.end();
  await Bun.sleep(50);
  expect(lost).toHaveLength(1);
});

test('[O-11] a thread with nothing to answer drains and closes at once', async () => {
  const { lost } = setUp();
  await thread.start(told('127.0.0.1'));
  await thread.drain();
  await thread.close();
  expect(lost).toEqual([]);
});

test('[C-21] a ban is acknowledged by the thread', async () => {
  setUp();
  await thread.start(told('127.0.0.1'));
  await thread.ban('stream', new Set([1, 2]));
});
