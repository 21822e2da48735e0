import { expect, test } from 'bun:test';
import type { BunRequest } from 'bun';
import { viewerApi } from '../../../protocol/viewer-api.ts';
import { Route } from '../../http/route.ts';
import { Unavailable } from '../../platform/errors.ts';
import { type StreamRoutes, streamHandlers } from './stream-routes.ts';

const options = { corsOrigin: '*', listener: { server: null }, trustProxy: true };
const route = new Route(viewerApi.listStreams, 'GET, HEAD, OPTIONS', options);

/** The list's handler on a database whose reads wait until the test answers them, one after the other. */
function slowLists() {
  const reads: PromiseWithResolvers<{ count: number; streams: [] }>[] = [];
  const deps = {
    store: {
      listStreams: () => {
        const read = Promise.withResolvers<{ count: number; streams: [] }>();
        reads.push(read);
        return read.promise;
      },
    },
    credentials: { identifyCaller: async () => ({ kind: 'anonymous' }) },
    originOf: () => 'http://localhost',
  };
  const { listStreams } = streamHandlers(deps as unknown as StreamRoutes);
  const get = async (address: string) => {
    const url = `http://localhost/api/v1/streams/?producer=${crypto.randomUUID()}`;
    const headers = { 'X-Forwarded-For': address };
    return listStreams(new Request(url, { headers }) as BunRequest<string>, route);
  };
  const outcome = (address: string) =>
    get(address).then(
      ({ status }) => status,
      (error) => error,
    );
  const finish = async () => {
    reads.shift()?.resolve({ count: 0, streams: [] });
    await Bun.sleep(0);
  };
  return { reads, outcome, finish };
}

test('[S-20] two lists are read at once, and networks take turns', async () => {
  const { reads, outcome, finish } = slowLists();
  const order: string[] = [];
  const list = (address: string) => outcome(address).then(() => order.push(address));
  const lists = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '198.51.100.1'].map(list);
  await Bun.sleep(0);
  expect(reads).toHaveLength(2);
  for (let read = 0; read < 5; read++) await finish();
  await Promise.all(lists);
  expect(order).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3', '198.51.100.1', '192.0.2.4']);
});

test('[S-20] lists beyond the queue return 503, those of the network with the most first', async () => {
  const { outcome, finish } = slowLists();
  const flood = Array.from({ length: 100 }, (_, n) => outcome(`192.0.2.${n}`));
  await Bun.sleep(0);
  const other = outcome('198.51.100.1');
  await Bun.sleep(0);
  for (let read = 0; read < 100; read++) await finish();
  expect(await other).toBe(200);
  const outcomes = await Promise.all(flood);
  expect(outcomes.filter((result) => result === 200)).toHaveLength(65);
  expect(outcomes.filter((result) => result instanceof Unavailable)).toHaveLength(35);
});

test('[S-20] a client that fills the queue leaves turns to the clients of its network', async () => {
  const { outcome, finish } = slowLists();
  const flood = Array.from({ length: 100 }, () => outcome('192.0.2.1'));
  await Bun.sleep(0);
  const others = [outcome('192.0.2.2'), outcome('192.0.3.3')];
  await Bun.sleep(0);
  for (let read = 0; read < 6; read++) await finish();
  expect(await Promise.all(others)).toEqual([200, 200]);
  for (let read = 0; read < 100; read++) await finish();
  expect((await Promise.all(flood)).filter((result) => result === 200)).toHaveLength(66);
});

test('[S-20] [R-15] lists that wait return 503 when the database is unavailable', async () => {
  const { reads, outcome } = slowLists();
  const lists = ['192.0.2.1', '192.0.2.1', '192.0.2.1'].map(outcome);
  await Bun.sleep(0);
  reads[0]?.reject(new Unavailable('The database is unavailable.'));
  expect(await lists[2]).toBeInstanceOf(Unavailable);
  expect(reads).toHaveLength(2);
});

test('[S-13] a read without a viewer token reads the stream, and nothing that viewers get', async () => {
  const deps = {
    store: { findStream: async () => null },
    details: { read: () => Promise.reject(new Error('the detail was read')) },
    credentials: { identifyCaller: async () => ({ kind: 'anonymous' }) },
  };
  const { readStream } = streamHandlers(deps as unknown as StreamRoutes);
  const url = `http://localhost/api/v1/streams/${crypto.randomUUID()}`;
  const request = Object.assign(new Request(url), { params: { stream_id: crypto.randomUUID() } });
  await expect(readStream(request as unknown as BunRequest<string>, route)).rejects.toThrow(
    'There is no stream with this id.',
  );
});
