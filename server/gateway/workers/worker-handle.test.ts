import { afterEach, expect, test } from 'bun:test';
import { until } from '../../../test/support/until.ts';
import { createOpenFiles } from '../../platform/open-files.ts';
import type { WorkerReport, WorkerStart } from './messages.ts';
import { WorkerHandle } from './worker-handle.ts';

let worker: WorkerHandle;
afterEach(() => worker.end());

function setUp() {
  const failures: string[] = [];
  const reports: WorkerReport[] = [];
  worker = new WorkerHandle({
    calls: { verify: async () => null, readSealed: async () => [] },
    onReport: (report) => reports.push(report),
    onDefect: (reason) => failures.push(reason),
    onFailed: (reason) => failures.push(reason),
  });
  return { failures, reports };
}

const startMessage = (host: string): WorkerStart => ({
  kind: 'start',
  host,
  port: 0,
  path: '/nowhere',
  secret: 'secret',
  corsOrigin: '*',
  edgeCache: false,
  allow: { heartbeats: 'POST', feed: 'GET' },
  tokenCacheSize: 10,
  trustProxy: false,
  sealed: 0,
  time: new Float64Array(new SharedArrayBuffer(8)),
  unavailable: { registrations: null, feed: null },
  openFiles: createOpenFiles().state,
  threads: 1,
});

test('starting a worker rejects with the reason when it cannot listen', async () => {
  setUp();
  const error = await worker.start(startMessage('192.0.2.1')).catch((error: Error) => error);
  expect((error as Error).message).toContain('cannot listen on --host 192.0.2.1');
});

test('[O-22] [R-6] a worker handle reports a crash once, and never a requested end', async () => {
  const { failures, reports } = setUp();
  await worker.start(startMessage('127.0.0.1'));
  await until('the worker reports', () => reports.length > 0);
  worker.send({ kind: 'bans', id: 1, streamId: 'stream', changes: null as never }); // It throws.
  await until('the worker has exited', () => failures.length > 0);
  expect(failures).toHaveLength(1);
  expect(failures[0]).toStartWith('a worker thread exited: ');
  const { failures: failuresAfterEnd } = setUp();
  await worker.start(startMessage('127.0.0.1'));
  worker.end();
  await Bun.sleep(50);
  expect(failuresAfterEnd).toEqual([]);
});

test('[O-11] a worker without requests drains and closes', async () => {
  const { failures } = setUp();
  await worker.start(startMessage('127.0.0.1'));
  await worker.drain();
  await worker.close();
  expect(failures).toEqual([]);
});

test('[C-21] a worker acknowledges a ban', async () => {
  setUp();
  await worker.start(startMessage('127.0.0.1'));
  await worker.changeBans('stream', { banned: [1, 2], lifted: [] });
});
