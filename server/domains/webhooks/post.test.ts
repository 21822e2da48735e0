import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryOf } from '../../../test/support/backends/server-programs.ts';
import { networks } from '../../platform/network-policy.ts';
import { createPost, type PostOptions } from './post.ts';

const NAME = 'hooks.example.org';
const LOOPBACK = networks('127.0.0.0/8');
const OPEN = { allowHttp: true, allowPrivate: LOOPBACK };
const RUNNING = new AbortController().signal;

let directory: string;
let key: string;
let cert: string;
const closing: (() => void)[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fourbeat-post-'));
  const child = Bun.spawn(
    [
      ...[binaryOf('openssl', 'openssl'), 'req', '-x509', '-newkey', 'rsa:2048', '-nodes'],
      ...['-days', '2', '-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`],
      ...['-keyout', join(directory, 'key'), '-out', join(directory, 'cert')],
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  );
  await child.exited;
  [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(directory, name), 'utf8')) as [
    string,
    string,
  ];
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listening(server: Server | ReturnType<typeof createTcp>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

const http = (answer: RequestListener) => listening(createHttp(answer));
const https = (answer: RequestListener) => listening(createHttps({ key, cert }, answer));
/** Answers with these bytes whatever comes, and goes on with `then`. */
const raw = (bytes: string, then: (socket: Socket) => void) =>
  listening(
    createTcp((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(bytes);
        then(socket);
      });
    }),
  );

const ok: RequestListener = (_, response) => response.writeHead(204).end();

/** Where names lead, and how often they were looked up. */
function names(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    asked.push(hostname);
    const found = answers[Math.min(asked.length, answers.length) - 1];
    if (!found) throw new Error('ENOTFOUND');
    return found;
  };
  return { asked, resolve };
}

function send(url: string, options: Partial<PostOptions> = {}, stop = RUNNING) {
  const post = createPost({ policy: OPEN, ca: cert, ...options });
  return post(url, { 'webhook-id': 'one' }, '{"a":"ü"}', stop);
}

describe('an attempt', () => {
  test('[H-9] sends the body whole, to its path, with its headers and the name', async () => {
    const got: unknown[] = [];
    const port = await http((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (text) => {
        body += text;
      });
      request.on('end', () => {
        const { method, url, headers } = request;
        got.push([method, url, headers.host, headers['webhook-id'], headers['content-length']]);
        got.push(body);
        response.writeHead(202).end('thanks');
      });
    });
    const { resolve } = names(['127.0.0.1']);
    const posted = await send(`http://${NAME}:${port}/a/b?c=d`, { resolve });
    expect(posted).toEqual({ status: 202, error: null });
    expect(got).toEqual([['POST', '/a/b?c=d', `${NAME}:${port}`, 'one', '10'], '{"a":"ü"}']);
  });

  test('[H-13] goes to the very address that was looked up, once, by a name that nobody else knows', async () => {
    const port = await https(ok);
    const { asked, resolve } = names(['127.0.0.1'], ['10.0.0.1']);
    expect(await send(`https://${NAME}:${port}/`, { resolve })).toEqual({
      status: 204,
      error: null,
    });
    expect(asked).toEqual([NAME]);
  });

  test('[H-13] of a name that leads elsewhere later is refused then (DNS rebinding)', async () => {
    let requests = 0;
    const port = await http((_, response) => {
      requests++;
      response.end();
    });
    const policy = { allowHttp: true, allowPrivate: networks('127.0.0.1') };
    const { resolve } = names(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']);
    const post = createPost({ policy, resolve });
    const attempts: unknown[] = [];
    for (let n = 0; n < 3; n++) {
      attempts.push(await post(`http://${NAME}:${port}/`, {}, '', RUNNING));
    }
    expect(attempts).toEqual([
      { status: 200, error: null },
      { status: null, error: 'address' },
      { status: 200, error: null },
    ]);
    expect(requests).toBe(2);
  });

  test.each([
    [['8.8.8.8', '127.0.0.2']],
    [['127.0.0.2', '8.8.8.8']],
    [['169.254.169.254']],
    [['fd00:ec2::254']],
    [['::ffff:127.0.0.1']],
    [['8.8.8.8', 'fe80::1%eth0']],
  ])('[H-12] [H-13] is refused when any of its addresses is: %p', async (addresses) => {
    const policy = { allowHttp: true, allowPrivate: [] };
    const posted = await send(`https://${NAME}/`, { policy, ...names(addresses) });
    expect(posted).toEqual({ status: null, error: 'address' });
  });

  test('[H-12] [H-3] is refused where the URL itself is no longer allowed', async () => {
    const port = await http(ok);
    const url = `http://127.0.0.1:${port}/`;
    const refused = async (policy: PostOptions['policy']) => (await send(url, { policy })).error;
    expect(await refused({ allowHttp: true, allowPrivate: [] })).toBe('address');
    expect(await refused({ allowHttp: false, allowPrivate: LOOPBACK })).toBe('setting');
    expect(await refused(OPEN)).toBeNull();
  });

  test('[H-13] checks the certificate, and by the name of the URL', async () => {
    const port = await https(ok);
    const resolve = async () => ['127.0.0.1'];
    const errorOf = async (host: string, options: Partial<PostOptions> = {}) =>
      (await send(`https://${host}:${port}/`, { resolve, ...options })).error;
    expect(await errorOf(NAME)).toBeNull();
    expect(await errorOf('other.example.org')).toBe('tls');
    expect(await errorOf('127.0.0.1')).toBe('tls');
    const post = createPost({ policy: OPEN, resolve });
    expect(await post(`https://${NAME}:${port}/`, {}, '', RUNNING)).toEqual({
      status: null,
      error: 'tls',
    });
  });

  test('[H-13] follows no redirect', async () => {
    let requests = 0;
    const port = await http((_, response) => {
      requests++;
      response.writeHead(307, { Location: `http://127.0.0.1:${port}/elsewhere` }).end();
    });
    expect((await send(`http://127.0.0.1:${port}/`)).status).toBe(307);
    expect(requests).toBe(1);
  });

  test('[H-13] reads no more of an answer than its beginning', async () => {
    let sentKb = 0;
    const closed = Promise.withResolvers<void>();
    const port = await raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', (socket) => {
      socket.on('close', () => closed.resolve());
      const more = () => {
        if (socket.destroyed) return;
        sentKb++;
        socket.write(`400\r\n${'x'.repeat(1024)}\r\n`, () => setImmediate(more));
      };
      more();
    });
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ status: 200, error: null });
    await closed.promise;
    expect(sentKb).toBeLessThan(1_000);
  });

  test.each([
    ['no answer at all', ''],
    ['headers that never end', 'HTTP/1.1 200 OK\r\nA: b\r\n'],
  ])('[H-13] ends at its time-out: %s', async (_, bytes) => {
    const port = await raw(bytes, () => {});
    const posted = await send(`http://127.0.0.1:${port}/`, { timeoutMs: 100 });
    expect(posted).toEqual({ status: null, error: 'timeout' });
  });

  test('[H-13] ends at its time-out while the name is looked up', async () => {
    const resolve = () => new Promise<never>(() => {});
    const posted = await send(`https://${NAME}/`, { resolve, timeoutMs: 50 });
    expect(posted).toEqual({ status: null, error: 'timeout' });
  });

  test('[H-14] says in a word why there was no answer', async () => {
    const port = await http(ok);
    const silent = await raw('', (socket) => socket.destroy());
    const babbling = await raw('SSH-2.0-OpenSSH_9.2\r\n', (socket) => socket.end());
    const errorOf = async (url: string, options: Partial<PostOptions> = {}) =>
      (await send(url, options)).error;
    expect(await errorOf(`http://${NAME}:${port}/`, names())).toBe('dns');
    expect(await errorOf(`http://${NAME}:${port}/`, names([]))).toBe('dns');
    expect(await errorOf('http://127.0.0.1:1/')).toBe('connection');
    expect(await errorOf(`http://127.0.0.1:${silent}/`)).toBe('connection');
    expect(await errorOf(`http://127.0.0.1:${babbling}/`)).toBe('connection');
    expect(await errorOf(`https://127.0.0.1:${port}/`)).toBe('tls');
  });

  test('[H-13] goes to the next address of a name when nobody takes the connection', async () => {
    const port = await http(ok);
    const { resolve } = names(['127.0.0.2', '127.0.0.1']);
    expect((await send(`http://${NAME}:${port}/`, { resolve })).status).toBe(204);
  });

  test('[H-17] that is stopped is not told as a failure', async () => {
    const port = await raw('', () => stopping.abort(new Error('the service ends')));
    const stopping = new AbortController();
    const ended = await send(`http://127.0.0.1:${port}/`, {}, stopping.signal).catch((e) => e);
    expect(ended).toMatchObject({ message: 'the service ends' });
  });
});
