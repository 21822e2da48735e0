import { afterEach, expect, test } from 'bun:test';
import { until } from '../../../test/support/until.ts';
import type { WorkerReport, WorkerStart } from './messages.ts';
import { WorkerHandle } from './worker-handle.ts';

let worker: WorkerHandle;
afterEach(() => worker.end());

function setUp() {
  const exits: string[] = [];
  const reports: WorkerReport[] = [];
  worker = new WorkerHandle({
    calls: { verify: async () => null, readSealed: async () => [] },
    onReport: (report) => reports.push(report),
    onDefect: (reason) => exits.push(reason),
    onFailed: (reason) => exits.push(reason),
  });
  return { exits, reports };
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
  sealed: 0,
  time: new Float64Array(new SharedArrayBuffer(8)),
  unavailable: { registrations: null, feed: null },
});

test('starting a worker rejects with the reason when it cannot listen', async () => {
  setUp();
  const error = await worker.start(startMessage('192.0.2.1')).catch((error: Error) => error);
  expect((error as Error).message).toContain('cannot listen on --host 192.0.2.1');
});

test('[O-22] [R-6] a worker handle reports a crash once, and never a requested end', async () => {
  const { exits, reports } = setUp();
  await worker.start(startMessage('127.0.0.1'));
  await until('the worker reports', () => reports.length > 0);
  worker.send({ kind: 'bans', id: 1, streamId: 'stream', seats: null as never }); // Crashes.
  await until('the worker has exited', () => exits.length > 0);
  expect(exits).toHaveLength(1);
  expect(exits[0]).toStartWith('a worker thread exited: ');
  const { exits: exitsOfEnded } = setUp();
  await worker.start(startMessage('127.0.0.1'));
  worker.end();
  await Bun.sleep(50);
  expect(exitsOfEnded).toEqual([]);
});

test('[O-11] an idle worker drains and closes at once', async () => {
  const { exits } = setUp();
  await worker.start(startMessage('127.0.0.1'));
  await worker.drain();
  await worker.close();
  expect(exits).toEqual([]);
});

test('[C-21] a worker acknowledges a ban', async () => {
  setUp();
  await worker.start(startMessage('127.0.0.1'));
  await worker.ban('stream', new Set([1, 2]));
});
