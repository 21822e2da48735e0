import { afterEach, expect, test } from 'bun:test';
import { createServer, type Socket } from 'node:net';
import { type AddressPolicy, parseNetworks } from '../../platform/network-policy.ts';
import { PostThread } from './post-thread.ts';

const POLICY = { allowHttp: true, allowPrivate: parseNetworks('127.0.0.0/8') };
const RUNNING = new AbortController().signal;
const closing: (() => void)[] = [];
const failures: string[] = [];

afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
  failures.length = 0;
});

function createThread(policy: AddressPolicy = POLICY, answerMs?: number): PostThread {
  const thread = new PostThread(policy, (reason) => failures.push(reason), answerMs);
  closing.push(() => thread.stop());
  return thread;
}

function serve() {
  const requests: { id: string | null; body: string }[] = [];
  const fetch = async (request: Request) => {
    requests.push({ id: request.headers.get('webhook-id'), body: await request.text() });
    return new Response(null, { status: 204 });
  };
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch });
  closing.push(() => void server.stop(true));
  return { url: server.url.href, requests };
}

/** A receiver that never answers, and its connections. */
async function silent(): Promise<{ url: string; connected: Promise<Socket> }> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => resolve(socket));
    closing.push(() => socket.destroy());
  });
  const { promise: listening, resolve: onListening } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', onListening);
  await listening;
  closing.push(() => server.close());
  const address = server.address() as { port: number };
  return { url: `http://127.0.0.1:${address.port}/`, connected: promise };
}

test('[H-9] the thread sends the body and headers, and returns the status', async () => {
  const { url, requests } = serve();
  const { post } = createThread();
  const result = await post(url, { 'webhook-id': 'one' }, '{"a":"ü"}', RUNNING);
  expect(result).toEqual({ status: 204, error: null });
  expect(requests).toEqual([{ id: 'one', body: '{"a":"ü"}' }]);
});

test.each([
  ['address', { ...POLICY, allowPrivate: [] }],
  ['address', { ...POLICY, allowPrivate: parseNetworks('10.0.0.0/8') }],
  ['setting', { ...POLICY, allowHttp: false }],
] as const)('[H-12] the policy holds in the thread (%s)', async (error, policy) => {
  const { url } = serve();
  expect(await createThread(policy).post(url, {}, '{}', RUNNING)).toEqual({ status: null, error });
});

test('[H-24] a receiver uses no time of the main thread', async () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const receiver = new Worker(
    URL.createObjectURL(
      new Blob([
        `let flag;
         const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch() {
           Atomics.add(flag, 0, 1);
           Atomics.notify(flag, 0);
           return new Response();
         } });
         self.onmessage = ({ data }) => { flag = data; self.postMessage(server.url.href); };`,
      ]),
    ),
  );
  closing.push(() => receiver.terminate());
  const url = await new Promise<string>((resolve) => {
    receiver.onmessage = ({ data }) => resolve(data);
    receiver.postMessage(flag);
  });
  const { post } = createThread();
  await post(url, {}, '{}', RUNNING);
  const second = post(url, {}, '{}', RUNNING);
  // Nothing runs on the main thread until the second request has arrived.
  expect(Atomics.wait(flag, 0, 1, 10_000)).not.toBe('timed-out');
  expect(await second).toEqual({ status: 200, error: null });
});

test('[H-17] an aborted attempt throws the reason and closes its connection', async () => {
  const { url, connected } = await silent();
  const stop = new AbortController();
  const result = createThread().post(url, {}, '{}', stop.signal);
  const socket = await connected;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  stop.abort(new Error('the node stops'));
  await expect(result).rejects.toThrow('the node stops');
  await closed;
});

test('[H-14] attempts of a thread that ends, or does not answer, fail, and the next thread sends', async () => {
  const { url, connected } = await silent();
  const thread = createThread();
  const first = thread.post(url, {}, '{}', RUNNING);
  await connected;
  thread.stop();
  expect(await first).toEqual({ status: null, error: 'connection' });
  expect(failures).toEqual([]);
  expect(await createThread(POLICY, 1).post(url, {}, '{}', RUNNING)).toEqual({
    status: null,
    error: 'timeout',
  });
  expect(failures).toEqual(['it did not answer in time']);
  const receiver = serve();
  expect((await thread.post(receiver.url, {}, '{}', RUNNING)).status).toBe(204);
});
