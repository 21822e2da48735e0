import { describe, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { rawExchange, rawHead } from '../support/conformance/raw-http.ts';
import { type Nginx, type NginxOptions, startNginxOnFreePort } from '../support/deploy/nginx.ts';
import { until } from '../support/until.ts';

/** Responds like a node. @param node its index */
type Respond = (request: Request, node: number) => Response | Promise<Response>;

/** nginx in front of three nodes that only respond. */
async function startInFrontOf(
  respond: Respond,
  edit?: NginxOptions['edit'],
): Promise<Nginx & AsyncDisposable> {
  const nodes = [0, 1, 2].map((node) =>
    Bun.serve({
      ...{ hostname: '127.0.0.1', port: 0, idleTimeout: 0 },
      fetch: (request) => respond(request, node),
    }),
  );
  const ports = nodes.map(({ port }) => port as number);
  const nginx = await startNginxOnFreePort({ nodes: ports, ...(edit ? { edit } : {}) });
  return {
    ...nginx,
    async [Symbol.asyncDispose]() {
      await nginx.stop();
      for (const node of nodes) await node.stop(true);
    },
  };
}

const noContent = () => new Response(null, { status: 204 });

/** The status of a request with this credential, by which nginx selects a node. */
async function statusOf(url: string, method: string, credential: string): Promise<number> {
  const response = await fetch(url, { method, headers: { Authorization: credential } });
  await response.arrayBuffer();
  return response.status;
}

const VIEWERS = 12;

/** Statuses of the heartbeats of all viewers, until right after something else. */
async function heartbeatsDuring(nginx: Nginx, during: Promise<unknown>): Promise<Set<number>> {
  const statuses = new Set<number>();
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  during.then(end, end);
  for (let isLast = false; !isLast; ) {
    isLast = isOver;
    const path = `${nginx.url}/api/v1/view-counts/a`;
    const sent = Array.from({ length: VIEWERS }, (_, n) => statusOf(path, 'POST', `Bearer ${n}`));
    for (const status of await Promise.all(sent)) statuses.add(status);
    await Bun.sleep(50);
  }
  return statuses;
}

/** Nodes whose studio takes some time. */
function slowStudio(delayMs: number) {
  /** How often the requests of the studio arrived, by credential. */
  const arrivals: Record<string, number> = {};
  /** The pairs of a viewer and a node: one for each viewer while no node is out of rotation. */
  const viewerNodes = new Set<string>();
  const respond: Respond = async (request, node) => {
    const credential = request.headers.get('authorization') ?? '';
    if (new URL(request.url).pathname.startsWith('/studio/')) {
      arrivals[credential] = (arrivals[credential] ?? 0) + 1;
      await Bun.sleep(delayMs);
    } else viewerNodes.add(`${credential} on node ${node}`);
    return noContent();
  };
  return { arrivals, viewerNodes, respond };
}

/** One path of each location of the studio. */
const STUDIO_PATHS = [
  '/studio/v1/streams/a',
  '/studio/v1/streams/a/rundown',
  '/studio/v1/streams/a/quizzes/import',
  '/studio/v1/streams/a/exports/answers.csv',
  '/studio/v1/streams/a/live',
];

/** Imports and rundowns of an address together may be ten at a time. */
const PER_PATH = 5;

const twentyTimesFaster = (config: string) =>
  config.replace(
    /(proxy_read_timeout|proxy_next_upstream_timeout) (\d+)s;/g,
    (_, name, seconds) => `${name} ${(Number(seconds) * 1_000) / 20}ms;`,
  );

describe('nginx of deploy/compose and operations of the studio', () => {
  test.concurrent('[L-19] operations that wait 7 s run once each, and heartbeats go on', async () => {
    const { arrivals, viewerNodes, respond } = slowStudio(7_000);
    await using nginx = await startInFrontOf(respond);
    const credentials = Array.from({ length: 30 }, (_, n) => `Token ${n}`);
    const url = nginx.url + STUDIO_PATHS[0];
    const operations = Promise.all(credentials.map((each) => statusOf(url, 'DELETE', each)));
    expect(await heartbeatsDuring(nginx, operations)).toEqual(new Set([204]));
    expect(new Set(await operations)).toEqual(new Set([204]));
    expect(arrivals).toEqual(Object.fromEntries(credentials.map((each) => [each, 1])));
    expect(viewerNodes.size).toBe(VIEWERS);
  });

  test.concurrent('[L-21] a write of the studio that times out is not repeated, and takes no node out of rotation', async () => {
    const { arrivals, viewerNodes, respond } = slowStudio(4_000);
    await using nginx = await startInFrontOf(respond, twentyTimesFaster);
    const writes = Promise.all(
      STUDIO_PATHS.flatMap((path) => {
        // Unlike a POST, nginx repeats a DELETE that has been sent.
        const method = path === STUDIO_PATHS[0] ? 'DELETE' : 'POST';
        // All requests of a path fail on one node, which three failures would take out.
        const send = () => statusOf(nginx.url + path, method, `Token of ${path}`);
        return Array.from({ length: PER_PATH }, send);
      }),
    );
    expect(await heartbeatsDuring(nginx, writes)).toEqual(new Set([204]));
    expect(new Set(await writes)).toEqual(new Set([503]));
    expect(arrivals).toEqual(
      Object.fromEntries(STUDIO_PATHS.map((path) => [`Token of ${path}`, PER_PATH])),
    );
    expect(viewerNodes.size).toBe(VIEWERS);
    const detail = async (method: string) => {
      const response = await fetch(`${nginx.url}/studio/v1/streams/b`, { method });
      return ((await response.json()) as { detail: string }).detail;
    };
    expect(await detail('POST')).toContain('It may still be carried out');
    expect(await detail('GET')).toContain('Send the request again');
  });

  test('[L-21] nginx repeats a read of the studio on another node when the first responds 503', async () => {
    await using nginx = await startInFrontOf((_, node) =>
      node === 0 ? new Response(null, { status: 503 }) : noContent(),
    );
    for (const path of STUDIO_PATHS) {
      const reads = Array.from({ length: PER_PATH }, (_, n) =>
        statusOf(nginx.url + path, 'GET', `Token ${n}`),
      );
      expect([path, new Set(await Promise.all(reads))]).toEqual([path, new Set([204])]);
    }
  });
});

describe('nginx of deploy/compose and nodes that are busy', () => {
  test('[N-10] requests of viewers with status 503 take no node out of rotation', async () => {
    await using nginx = await startInFrontOf(({ method }) =>
      method === 'POST' ? noContent() : new Response(null, { status: 503 }),
    );
    const erase = async () => {
      const url = `${nginx.url}/api/v1/quizzes/a/winner-contact`;
      const sent = Array.from({ length: 60 }, (_, n) => statusOf(url, 'DELETE', `Bearer ${n}`));
      return new Set(await Promise.all(sent));
    };
    const erasures = erase();
    expect(await heartbeatsDuring(nginx, erasures)).toEqual(new Set([204]));
    expect(await erasures).toEqual(new Set([503]));
  });
});

describe('nginx of deploy/compose and paths that a node reads differently', () => {
  test.each([
    '/studio/v1/quizzes/..%2f..%2f..%2fx/duplicate',
    '/studio/v1/quizzes/%2E%2E/..%5Cx',
    '/studio/v1/streams/..#/quizzes/import',
    '/api/v1/x/../../../studio/v1/streams',
  ])('[L-21] %s gets 400 from nginx', async (path) => {
    let arrivals = 0;
    await using nginx = await startInFrontOf(() => {
      arrivals++;
      return noContent();
    });
    const head = rawHead(`POST ${path}`, { 'Content-Length': '0', Connection: 'close' });
    const answer = await rawExchange(nginx.url, [head], { waitMs: 2_000 });
    expect([answer.status, arrivals]).toEqual([400, 0]);
    expect(answer.text).toContain('{"type":"about:blank","title":"Bad Request","status":400');
  });

  test('[L-21] a POST to no route of viewers that gets no response takes no node out of rotation', async () => {
    const viewerNodes = new Set<string>();
    await using nginx = await startInFrontOf(async (request, node) => {
      if (request.url.endsWith('/nothing')) await Bun.sleep(2_000);
      else viewerNodes.add(`${request.headers.get('authorization')} on node ${node}`);
      return noContent();
    }, twentyTimesFaster);
    const url = `${nginx.url}/api/v1/nothing`;
    const sent = Array.from({ length: 60 }, (_, n) => statusOf(url, 'POST', `Bearer ${n}`));
    const posts = Promise.all(sent);
    expect(await heartbeatsDuring(nginx, posts)).toEqual(new Set([204]));
    expect(new Set(await posts)).toEqual(new Set([503]));
    expect(viewerNodes.size).toBe(VIEWERS);
  });

  test('[L-6] all spellings of a scheme lead to the same node', async () => {
    const nodes = new Set<number>();
    await using nginx = await startInFrontOf((_, node) => {
      nodes.add(node);
      return noContent();
    });
    const schemes = ['Bearer', 'bearer', 'BEARER', 'bEARER', 'beAReR', 'Bearer  '];
    for (const spelling of [...schemes.map((scheme) => `${scheme} token`), '\tBearer token\t\t']) {
      const credential = { Authorization: spelling, 'Content-Length': '0', Connection: 'close' };
      const head = rawHead('POST /api/v1/view-counts/a', credential);
      expect((await rawExchange(nginx.url, [head], { waitMs: 2_000 })).status).toBe(204);
    }
    expect(nodes.size).toBe(1);
  });
});

const IMPORT_PATH = '/studio/v1/streams/a/quizzes/import';
const PATHS_WITH_LIMITS = ['/media/a', '/studio/v1/streams'];
const BODIES_MAX = 5_000;
const BODIES_AT_ONCE = 50;

/** Requests whose bodies arrive byte by byte. */
class SlowBodies implements Disposable {
  private readonly clients: Socket[] = [];
  private readonly timer = setInterval(() => {
    for (const client of this.clients) client.write('x');
  }, 1_000);

  constructor(private readonly url: string) {}

  /** Sends one from an address, and returns the status line once nginx accepts or rejects the body. */
  async send(
    path: string,
    localAddress = '127.0.0.1',
    credentials: Record<string, string> = {},
  ): Promise<string> {
    const { hostname, port } = new URL(this.url);
    const client = connect({ host: hostname, port: Number(port), localAddress });
    client.on('error', () => {});
    const headers = { 'Content-Length': '1000', Expect: '100-continue', ...credentials };
    client.write(rawHead(`POST ${path}`, headers));
    const { promise, resolve } = Promise.withResolvers<string>();
    client.once('data', (bytes) => resolve(bytes.toString('latin1').split('\r\n', 1)[0] ?? ''));
    client.once('close', () => resolve('closed'));
    const line = await promise;
    this.clients.push(client);
    return line;
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer);
    for (const client of this.clients) client.destroy();
  }
}

const FORWARDED_ADDRESSES = 'set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;';

const CONTINUE = 'HTTP/1.1 100 Continue';

/** A response with all that a client sees of it. */
async function pageOf(response: Response) {
  const { date, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
}

describe('nginx of deploy/compose and clients that send slowly', () => {
  test.concurrent('[L-21] nginx closes a connection whose head is not complete after 5 s', async () => {
    await using nginx = await startInFrontOf(noContent);
    const lines = Array.from({ length: 8 }, (_, n) => [`X-Header-${n}: a\r\n`, 1_000]);
    const head = ['POST /api/v1/token HTTP/1.1\r\n', ...lines.flat()];
    const { closed, elapsedMs } = await rawExchange(nginx.url, head, { waitMs: 0 });
    expect(closed).toBe(true);
    expect(elapsedMs).toBeGreaterThan(4_500);
    expect(elapsedMs).toBeLessThan(7_500);
  });

  test.concurrent('[L-21] nginx reads at most 5 s of the rest of a rejected request', async () => {
    await using nginx = await startInFrontOf(noContent);
    const drip = Array.from({ length: 8 }, () => ['x', 1_000]).flat();
    const send = async (path: string, length: number) => {
      const headers = { Connection: 'keep-alive', 'Content-Length': String(length) };
      const parts = [rawHead(`POST ${path}`, headers), ...drip];
      const { status, closed, elapsedMs } = await rawExchange(nginx.url, parts, { waitMs: 0 });
      return { status, isClosedInTime: closed && elapsedMs < 7_500 };
    };
    const [tooLarge, notFound] = await Promise.all([
      send('/api/v1/token', 6_000),
      send('/metrics', 1_000),
    ]);
    expect(tooLarge).toEqual({ status: 413, isClosedInTime: true });
    expect(notFound).toEqual({ status: 404, isClosedInTime: true });
  });

  test('[L-21] nginx accepts 5,000 requests with a body in progress of an address, and its others go on', async () => {
    await using nginx = await startInFrontOf(noContent);
    using slow = new SlowBodies(nginx.url);
    const post = (path: string) => fetch(nginx.url + path, { method: 'POST', body: 'x' });
    for (let n = 0; n < 10; n++) expect(await slow.send(IMPORT_PATH)).toBe(CONTINUE);
    const tooMany = await pageOf(await post(IMPORT_PATH));
    expect(tooMany.status).toBe(429);

    for (let n = 10; n < BODIES_MAX; n += BODIES_AT_ONCE) {
      const count = Math.min(BODIES_AT_ONCE, BODIES_MAX - n) - PATHS_WITH_LIMITS.length;
      const paths = [...PATHS_WITH_LIMITS, ...new Array<string>(count).fill('/api/v1/token')];
      const lines = await Promise.all(paths.map((path) => slow.send(path)));
      expect(new Set(lines)).toEqual(new Set([CONTINUE]));
    }
    for (const path of ['/api/v1/token', ...PATHS_WITH_LIMITS]) {
      expect(await pageOf(await post(path))).toEqual(tooMany);
    }
    const chunked = [rawHead('POST /api/v1/token', { 'Transfer-Encoding': 'chunked' })];
    expect((await rawExchange(nginx.url, chunked, { waitMs: 2_000 })).status).toBe(429);

    expect((await fetch(`${nginx.url}/api/v1/time`)).status).toBe(204);
    for (const headers of [{}, { 'Content-Length': '0' }]) {
      const heartbeat = [rawHead('POST /api/v1/view-counts/a', headers)];
      expect((await rawExchange(nginx.url, heartbeat, { waitMs: 2_000 })).status).toBe(204);
    }
    expect(await slow.send('/api/v1/token', '127.0.0.2')).toBe(CONTINUE);

    slow[Symbol.dispose]();
    await until('bodies that ended make room', async () => {
      return (await post('/api/v1/token')).status === 204;
    });
  });

  test('[L-21] strangers who send slowly leave the studio to a host who shares their address', async () => {
    await using nginx = await startInFrontOf(noContent);
    using slow = new SlowBodies(nginx.url);
    const send = (path: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => slow.send(path)));
    const lines = [...(await send('/studio/v1/session', 200)), ...(await send(IMPORT_PATH, 10))];
    expect(new Set(lines)).toEqual(new Set([CONTINUE]));
    const statusWith = async (path: string, headers: Record<string, string>) =>
      (await fetch(nginx.url + path, { method: 'POST', body: 'x', headers })).status;
    for (const path of ['/studio/v1/streams', IMPORT_PATH]) {
      expect([path, await statusWith(path, {})]).toEqual([path, 429]);
      for (const headers of [
        { Cookie: 'a=b; fourbeat=secret' },
        { Cookie: '__Host-fourbeat=secret' },
        { Authorization: 'Token secret' },
      ]) {
        expect([path, headers, await statusWith(path, headers)]).toEqual([path, headers, 204]);
      }
    }
  });

  test('[L-21] a customer with many credentials or IPv6 networks leaves the studio to others', async () => {
    const edit = (config: string) =>
      config
        .replace('zone=studio:16m', 'zone=studio:32k')
        .replace('limit_conn_status', `${FORWARDED_ADDRESSES} limit_conn_status`);
    await using nginx = await startInFrontOf(noContent, edit);
    using slow = new SlowBodies(nginx.url);
    const path = '/studio/v1/session';
    const send = (address: string, number: number) =>
      slow.send(path, '127.0.0.1', {
        'X-Forwarded-For': address,
        Authorization: `Token ${number}`,
      });
    const statusFrom = async (address: string) =>
      (await fetch(nginx.url + path, { headers: { 'X-Forwarded-For': address } })).status;
    const isOneOf = (number: number) => `2001:db8:1:${number.toString(16)}::1`;
    const numbers = Array.from({ length: 600 }, (_, number) => number);
    const lines = await Promise.all(numbers.map((number) => send(isOneOf(number), number)));
    expect(new Set(lines)).toEqual(new Set([CONTINUE]));
    expect(await statusFrom(isOneOf(600))).toBe(429);
    for (const address of ['2001:db8:2::1', '192.0.2.1', '192.0.2.2']) {
      expect([address, await statusFrom(address)]).toEqual([address, 204]);
    }
  });

  test('[G-8] nginx redirects within the address that the client sees', async () => {
    await using nginx = await startInFrontOf(noContent);
    const response = await fetch(`${nginx.url}/studio`, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe('/studio/');
  });

  test('[L-21] nginx stores no body that a node accepts, except of imports and rundowns', async () => {
    await using nginx = await startInFrontOf(async (request) => {
      return new Response(String((await request.arrayBuffer()).byteLength));
    });
    const chunksOf = (bytes: number) => {
      const chunk = `${(500).toString(16)}\r\n${'x'.repeat(500)}\r\n`;
      return `${chunk.repeat(bytes / 500)}0\r\n\r\n`;
    };
    const send = (path: string, bytes: number) => {
      const head = rawHead(`POST ${path}`, { 'Transfer-Encoding': 'chunked' });
      return rawExchange(nginx.url, [head, 100, chunksOf(bytes)], { waitMs: 2_000 });
    };
    const isStored = () => nginx.errorLog().includes('body is buffered to a temporary file');
    for (const [path, bytes] of [
      ['/api/v1/token', 5_000],
      ['/studio/v1/streams', 16_000],
    ] as const) {
      const { status, text } = await send(path, bytes);
      expect([path, status, text.endsWith(`\r\n${bytes}`)]).toEqual([path, 200, true]);
    }
    expect(isStored()).toBe(false);
    expect((await send(IMPORT_PATH, 100_000)).status).toBe(200);
    expect(isStored()).toBe(true);
  });
});
