import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { createSocket } from 'node:dgram';
import { getServers, setServers } from 'node:dns';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { binaryOf } from '../../../test/support/backends/server-programs.ts';
import { parseNetworks } from '../../platform/network-policy.ts';
import { createPost, type PostOptions } from './post.ts';

const NAME = 'hooks.example.org';
const LOOPBACK = parseNetworks('127.0.0.0/8');
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
/** A TCP or TLS server that answers any data with `bytes`, then calls `then` with the socket. */
const raw = (bytes: string, then: (socket: Socket) => void, isTls = false) => {
  const answer = (socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(bytes);
      then(socket);
    });
  };
  return listening(isTls ? createTls({ key, cert }, answer) : createTcp(answer));
};

const ok: RequestListener = (_, response) => response.writeHead(204).end();

/** A resolver that returns one list of addresses per look-up, and records the names looked up. */
function fakeResolver(...answers: readonly (readonly string[])[]) {
  const lookups: string[] = [];
  const resolve = async (hostname: string) => {
    lookups.push(hostname);
    const found = answers[Math.min(lookups.length, answers.length) - 1];
    if (!found) throw new Error('ENOTFOUND');
    return found;
  };
  return { lookups, resolve };
}

const QUERY_NAME = 12;
const TYPE_A = 1;

/** Resolves names by a server on this machine until the test ends: 127.0.0.1, or no answer at all. */
async function useNameServer(answers: (name: string) => boolean): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const nameEnd = query.indexOf(0, QUERY_NAME);
    const labels: string[] = [];
    for (let at = QUERY_NAME; at < nameEnd; at += query.readUInt8(at) + 1) {
      labels.push(query.toString('latin1', at + 1, at + 1 + query.readUInt8(at)));
    }
    if (!answers(labels.join('.'))) return;
    const isA = query.readUInt16BE(nameEnd + 1) === TYPE_A;
    const response = Buffer.from(query.subarray(0, nameEnd + 5));
    response.writeUInt16BE(0x8180, 2);
    response.writeUInt16BE(Number(isA), 6);
    response.writeUInt16BE(0, 10);
    const record = [0xc0, QUERY_NAME, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1];
    socket.send(Buffer.concat([response, Buffer.from(isA ? record : [])]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const servers = getServers();
  setServers([`127.0.0.1:${socket.address().port}`]);
  closing.push(() => {
    setServers(servers);
    socket.close();
  });
}

function send(url: string, options: Partial<PostOptions> = {}, stop = RUNNING) {
  const post = createPost({ policy: OPEN, ca: cert, ...options });
  return post(url, { 'webhook-id': 'one' }, '{"a":"ü"}', stop);
}

describe('post to a webhook', () => {
  const keepOpen = (socket: Socket): void => {
    closing.push(() => socket.destroy());
  };

  test('[H-9] a post to a webhook sends the body, path, headers and Host of the request', async () => {
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
    const { resolve } = fakeResolver(['127.0.0.1']);
    const posted = await send(`http://${NAME}:${port}/a/b?c=d`, { resolve });
    expect(posted).toEqual({ status: 202, error: null });
    expect(got).toEqual([['POST', '/a/b?c=d', `${NAME}:${port}`, 'one', '10'], '{"a":"ü"}']);
  });

  test('[H-13] a post to a webhook resolves the name once and connects to the resolved address', async () => {
    const port = await https(ok);
    const { lookups, resolve } = fakeResolver(['127.0.0.1'], ['10.0.0.1']);
    expect(await send(`https://${NAME}:${port}/`, { resolve })).toEqual({
      status: 204,
      error: null,
    });
    expect(lookups).toEqual([NAME]);
  });

  test('[H-13] a post to a webhook checks the addresses of a name at each attempt (DNS rebinding)', async () => {
    let requests = 0;
    const port = await http((_, response) => {
      requests++;
      response.end();
    });
    const policy = { allowHttp: true, allowPrivate: parseNetworks('127.0.0.1') };
    const { resolve } = fakeResolver(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1']);
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
  ])(
    '[H-12] [H-13] a post to a webhook is refused when the policy forbids any address of the name: %p',
    async (addresses) => {
      const policy = { allowHttp: true, allowPrivate: [] };
      const posted = await send(`https://${NAME}/`, { policy, ...fakeResolver(addresses) });
      expect(posted).toEqual({ status: null, error: 'address' });
    },
  );

  test('[H-12] [H-3] a post to a webhook is refused when the policy no longer allows the URL', async () => {
    const port = await http(ok);
    const url = `http://127.0.0.1:${port}/`;
    const refused = async (policy: PostOptions['policy']) => (await send(url, { policy })).error;
    expect(await refused({ allowHttp: true, allowPrivate: [] })).toBe('address');
    expect(await refused({ allowHttp: false, allowPrivate: LOOPBACK })).toBe('setting');
    expect(await refused(OPEN)).toBeNull();
  });

  test('[H-13] a post to a webhook requires a valid certificate for the host name of the URL', async () => {
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

  test('[H-13] a post to a webhook follows no redirect', async () => {
    let requests = 0;
    const port = await http((_, response) => {
      requests++;
      response.writeHead(307, { Location: `http://127.0.0.1:${port}/elsewhere` }).end();
    });
    expect((await send(`http://127.0.0.1:${port}/`)).status).toBe(307);
    expect(requests).toBe(1);
  });

  test('[H-13] a post to a webhook closes the connection when a response body is too long', async () => {
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

  const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  test.each([
    ['http', 'empty lines before the response', '', '\r\n', { status: null, error: 'connection' }],
    ['https', 'empty lines before the response', '', '\r\n', { status: null, error: 'connection' }],
    ['http', 'the digit 0 as the size of a chunk', CHUNKED, '0', { status: 200, error: null }],
    ['https', 'the digit 0 as the size of a chunk', CHUNKED, '0', { status: 200, error: null }],
  ] as const)(
    '[H-13] a post to a webhook by %s closes the connection when the receiver sends without end: %s',
    async (scheme, _, start, text, expected) => {
      let sentBytes = 0;
      const closed = Promise.withResolvers<void>();
      const flood = (socket: Socket) => {
        socket.on('close', () => closed.resolve());
        const bytes = text.repeat(8_192);
        const more = () => {
          if (socket.destroyed) return;
          sentBytes += bytes.length;
          socket.write(bytes, () => setImmediate(more));
        };
        more();
      };
      const port = await raw(start, flood, scheme === 'https');
      const { resolve } = fakeResolver(['127.0.0.1']);
      const options = { resolve, timeoutMs: 2_000 };
      expect(await send(`${scheme}://${NAME}:${port}/`, options)).toEqual(expected);
      await closed.promise;
      // With what the buffers of the sockets take.
      expect(sentBytes).toBeLessThan(8_000_000);
    },
  );

  test.each(['http', 'https'])(
    '[H-13] a post to a webhook by %s takes the status of a response whose long body arrives with it',
    async (scheme) => {
      const body = 'x'.repeat(1_000_000);
      const head = `HTTP/1.1 202 Accepted\r\nContent-Length: ${body.length}\r\n\r\n`;
      const port = await raw(head + body, keepOpen, scheme === 'https');
      const { resolve } = fakeResolver(['127.0.0.1']);
      const posted = await send(`${scheme}://${NAME}:${port}/`, { resolve });
      expect(posted).toEqual({ status: 202, error: null });
    },
  );

  test.each([
    ['no response', ''],
    ['headers that never end', 'HTTP/1.1 200 OK\r\nA: b\r\n'],
  ])('[H-13] a post to a webhook times out: %s', async (_, bytes) => {
    const port = await raw(bytes, () => {});
    const posted = await send(`http://127.0.0.1:${port}/`, { timeoutMs: 100 });
    expect(posted).toEqual({ status: null, error: 'timeout' });
  });

  const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  /** Sends bytes again and again until the client closes the connection. */
  const repeat = (bytes: string, everyMs: number) => (socket: Socket) => {
    const timer = setInterval(() => socket.write(bytes), everyMs);
    socket.on('close', () => clearInterval(timer));
    closing.push(() => socket.destroy());
  };
  test('[H-13] a post to a webhook reads at most ten interim responses', async () => {
    const FINAL = 'HTTP/1.1 204 No Content\r\n\r\n';
    const resultOf = async (interim: number) => {
      const port = await raw(CONTINUE.repeat(interim) + FINAL, () => {});
      return send(`http://127.0.0.1:${port}/`);
    };
    expect(await resultOf(10)).toEqual({ status: 204, error: null });
    expect(await resultOf(11)).toEqual({ status: null, error: 'connection' });
  });

  const reset = (socket: Socket): void => {
    socket.resetAndDestroy();
  };

  test.each([
    ['another protocol', SWITCHING, keepOpen, { status: 101, error: null }],
    [
      'another protocol, then data',
      SWITCHING,
      repeat('x'.repeat(10_000), 1),
      { status: 101, error: null },
    ],
    [
      'interim responses without end',
      CONTINUE,
      repeat(CONTINUE, 1),
      { status: null, error: 'connection' },
    ],
    [
      'a head that stops in its first line',
      'HTTP/1.1 2',
      keepOpen,
      { status: null, error: 'timeout' },
    ],
    ['headers without end', 'HTTP/1.1 200 OK\r\n', repeat(`a: ${'b'.repeat(1_000)}\r\n`, 1), null],
    [
      'the status 000',
      'HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n',
      keepOpen,
      { status: null, error: 'connection' },
    ],
    ['a reset', '', reset, { status: null, error: 'connection' }],
    [
      'a body byte by byte',
      'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n',
      repeat('x', 20),
      null,
    ],
  ] as const)(
    '[H-13] an attempt ends in time when the receiver sends %s',
    async (_, bytes, then, expected) => {
      const port = await raw(bytes, then);
      const startMs = performance.now();
      const posted = await send(`http://127.0.0.1:${port}/`, { timeoutMs: 300 });
      expect(performance.now() - startMs).toBeLessThan(3_000);
      if (expected) expect(posted).toEqual(expected);
      else expect(posted.status === 200 || posted.error !== null).toBe(true);
    },
  );

  test('[H-13] an attempt ends in time when TLS is never answered', async () => {
    const port = await raw('', keepOpen);
    const posted = await send(`https://127.0.0.1:${port}/`, { timeoutMs: 300 });
    expect(posted).toEqual({ status: null, error: 'timeout' });
  });

  test('[H-13] a post to a webhook times out during name resolution', async () => {
    const resolve = () => new Promise<never>(() => {});
    const posted = await send(`https://${NAME}/`, { resolve, timeoutMs: 50 });
    expect(posted).toEqual({ status: null, error: 'timeout' });
  });

  test('[H-24] names that are never resolved delay neither other posts nor files and passwords', async () => {
    const port = await http(ok);
    const waiting = Promise.withResolvers<void>();
    await useNameServer((name) => {
      if (name === NAME) return true;
      waiting.resolve();
      return false;
    });
    const stopping = new AbortController();
    const slow = Array.from({ length: 32 }, (_, index) =>
      send(`https://slow-${index}.example.org/`, {}, stopping.signal).catch(() => 'stopped'),
    );
    await waiting.promise;
    expect(await send(`http://${NAME}:${port}/`)).toEqual({ status: 204, error: null });
    expect(await Bun.file(join(directory, 'cert')).text()).toBe(cert);
    expect(await Bun.password.verify('one', await Bun.password.hash('one'))).toBe(true);
    stopping.abort();
    expect(await Promise.all(slow)).toEqual(slow.map(() => 'stopped'));
  });

  test('[H-14] a post to a webhook reports the reason when there is no response', async () => {
    const port = await http(ok);
    const silent = await raw('', (socket) => socket.destroy());
    const nonHttp = await raw('SSH-2.0-OpenSSH_9.2\r\n', (socket) => socket.end());
    const errorOf = async (url: string, options: Partial<PostOptions> = {}) =>
      (await send(url, options)).error;
    expect(await errorOf(`http://${NAME}:${port}/`, fakeResolver())).toBe('dns');
    expect(await errorOf(`http://${NAME}:${port}/`, fakeResolver([]))).toBe('dns');
    expect(await errorOf('http://127.0.0.1:1/')).toBe('connection');
    expect(await errorOf(`http://127.0.0.1:${silent}/`)).toBe('connection');
    expect(await errorOf(`http://127.0.0.1:${nonHttp}/`)).toBe('connection');
    expect(await errorOf(`https://127.0.0.1:${port}/`)).toBe('tls');
  });

  test('[H-13] a post to a webhook tries the next address of the name when a connection is refused', async () => {
    const port = await http(ok);
    const { resolve } = fakeResolver(['127.0.0.2', '127.0.0.1']);
    expect((await send(`http://${NAME}:${port}/`, { resolve })).status).toBe(204);
  });

  test('[H-17] a post to a webhook throws the abort reason when it is stopped', async () => {
    const port = await raw('', () => stopping.abort(new Error('the service ends')));
    const stopping = new AbortController();
    const ended = await send(`http://127.0.0.1:${port}/`, {}, stopping.signal).catch((e) => e);
    expect(ended).toMatchObject({ message: 'the service ends' });
  });
});
