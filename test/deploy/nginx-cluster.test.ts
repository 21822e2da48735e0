import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { rawExchange, rawHead } from '../support/conformance/raw-http.ts';
import { type Cluster, startCluster } from '../support/deploy/compose-cluster.ts';
import { type Nginx, startNginxOnFreePort } from '../support/deploy/nginx.ts';
import { IS_FULL_RUN } from '../support/full-run.ts';
import { expectJson, type TestViewer, viewerWith } from '../support/harness/harness.ts';
import { killServers } from '../support/harness/program.ts';

const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 60_000;
// Generous, for a busy machine; a response that waits for a full buffer of 8 KB takes much longer.
const MAX_DELAY_INTERVALS = 12;

let cluster: Cluster;
let nginx: Nginx;
let streamId: string;
let viewer: TestViewer;

beforeAll(async () => {
  cluster = await startCluster({ FOURBEAT_RATE_CHAT: '3/60' });
  nginx = cluster.nginx;
  streamId = await cluster.createStream();
  viewer = await cluster.viewer(streamId);
}, START_TIMEOUT_MS);

afterAll(async () => {
  await cluster?.stop();
  await killServers();
}, START_TIMEOUT_MS);

const feedPath = (interval: number) => `/api/v1/events-streams/${streamId}?interval=${interval}`;

async function currentInterval(): Promise<number> {
  const response = await fetch(`${nginx.url}/api/v1/time`);
  return (await expectJson<{ interval: number }>(response, 200)).interval;
}

/** Reads an interval through nginx; repeats after a 503, which means late sealing (F-9). */
async function read(interval: number): Promise<Response> {
  for (;;) {
    const response = await viewer.get(feedPath(interval));
    if (response.status !== 503) return response;
    await response.text();
  }
}

/** Whether the condition holds within a time limit. */
async function holdsSoon(holds: () => Promise<boolean>, limitMs = 15_000): Promise<boolean> {
  const giveUpMs = performance.now() + limitMs;
  while (performance.now() < giveUpMs) {
    if (await holds()) return true;
    await Bun.sleep(50);
  }
  return false;
}

/** A configuration with a shared cache that ignores `Cache-Control`. */
function withSharedCache(config: string): string {
  const directory = /^pid (.*)\/nginx\.pid;$/m.exec(config)?.[1];
  const store = `proxy_cache_path ${directory}/cache keys_zone=shared:1m;`;
  const cache = 'proxy_cache shared; proxy_cache_valid 200 1m; proxy_ignore_headers Cache-Control;';
  return config
    .replaceAll('proxy_buffering off;', '')
    .replace('proxy_cache off;', `${store}\n${cache}`);
}

// `npm run test:full` also kills, drains and suspends nodes.
describe('nginx of deploy/compose in front of three nodes', () => {
  test('[F-18] [T-11] a sealed interval has the same bytes through nginx as from every node, and is 401 without a token', async () => {
    await cluster.studio('POST', `/streams/${streamId}/events`, { type: 'hello', data: { n: 1 } });
    const interval = await currentInterval();
    const bodies: string[] = [];
    for (let at = interval - 1; at <= interval + 1; at++) {
      const response = await read(at);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toContain('private');
      const body = await response.text();
      bodies.push(body);
      for (const node of cluster.nodes) {
        const direct = viewerWith(node.url, streamId, viewer.token);
        expect(await (await direct.get(feedPath(at))).text()).toBe(body);
      }
      expect((await fetch(nginx.url + feedPath(at))).status).toBe(401);
      const etag = response.headers.get('etag') ?? '';
      expect((await viewer.get(feedPath(at), { 'If-None-Match': etag })).status).toBe(304);
    }
    expect(bodies.join()).toContain('"hello"');
    const other = await cluster.viewer(await cluster.createStream());
    expect((await other.get(feedPath(interval))).status).toBe(401);
  });

  test('[F-18] a request without a token gets a 200 from an nginx with a shared cache, so that a test detects such a cache', async () => {
    const leaky = await startNginxOnFreePort({
      nodes: cluster.nodes.map((node) => node.port),
      edit: withSharedCache,
    });
    try {
      const path = feedPath((await currentInterval()) - 1);
      const inside = viewerWith(leaky.url, streamId, viewer.token);
      expect((await inside.get(path)).status).toBe(200);
      expect((await fetch(leaky.url + path)).status).toBe(200);
    } finally {
      await leaky.stop();
    }
  });

  test('[F-4] long polls through nginx return right after their interval', async () => {
    const from = (await currentInterval()) + 1;
    for (let interval = from; interval < from + 8; interval++) {
      const response = await read(interval);
      expect(await response.json()).toMatchObject({ interval });
      // nginx forwarded the response without waiting for a full buffer.
      expect(await currentInterval()).toBeLessThan(interval + MAX_DELAY_INTERVALS);
    }
  });

  test('[F-21] nginx forwards the messages of an event stream one by one', async () => {
    const from = (await currentInterval()) + 1;
    const response = await viewer.get(feedPath(from), { Accept: 'text/event-stream' });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const decoder = new TextDecoder();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    for (let interval = from; interval < from + 6; interval++) {
      while (!text.includes(`id: ${interval}\n`)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream ended: ${text}`);
        text += decoder.decode(value, { stream: true });
      }
      expect(await currentInterval()).toBeLessThan(interval + MAX_DELAY_INTERVALS);
    }
    await reader.cancel();
  });

  test('[L-7] requests of one viewer go to one node, so that rate limits are exact', async () => {
    const chatViewer = await cluster.viewer(streamId);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) {
      const path = `/api/v1/events-streams/${streamId}/chats`;
      statuses.push((await chatViewer.post(path, { kind: 'heart' })).status);
    }
    expect(statuses).toEqual([204, 204, 204, 429, 429]);
  });

  test('[G-31] requests with unknown methods take no node out of rotation', async () => {
    for (let n = 0; n < 20; n++) {
      // The credential is the routing key: these requests reach every node.
      const headers = { Authorization: `Bearer ${n}` };
      const answer = await rawExchange(nginx.url, [rawHead('BREW /odd', headers)], {
        waitMs: 5_000,
      });
      expect(answer.status).toBe(400);
    }
    const heartbeat = await viewer.post(`/api/v1/view-counts/${streamId}`);
    expect(heartbeat.status).toBe(204);
  });

  /** Statuses of 12 imports that are not complete. @param addressOf the address of one that a proxy sends */
  async function slowImports(url: string, addressOf: (n: number) => string): Promise<number[]> {
    const slow = Array.from({ length: 12 }, (_, n) => {
      const head = rawHead(`POST /studio/v1/streams/${streamId}/quizzes/import`, {
        'Content-Type': 'application/json',
        'Content-Length': '1000000',
        'X-Forwarded-For': addressOf(n),
      });
      return rawExchange(url, [head, 'x'.repeat(900_000)], { waitMs: 1_000 });
    });
    expect((await viewer.post(`/api/v1/view-counts/${streamId}`)).status).toBe(204);
    // 0: nginx waits for the rest of the body.
    return (await Promise.all(slow)).map(({ status }) => status).toSorted();
  }

  const TEN_STORED = [...new Array<number>(10).fill(0), 429, 429];

  test('nginx stores at most ten bodies of imports of an address, and other requests go on', async () => {
    // The header of a client does not change its address.
    expect(await slowImports(nginx.url, (n) => `192.0.2.${n}`)).toEqual(TEN_STORED);
  });

  test('[L-21] nginx counts the IPv6 addresses of one /48 as one', async () => {
    const proxied = await startNginxOnFreePort({
      nodes: cluster.nodes.map((node) => node.port),
      edit: (config) =>
        config.replace(
          'limit_conn_status',
          'set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For; limit_conn_status',
        ),
    });
    try {
      expect(await slowImports(proxied.url, (n) => `2001:db8:0:${n}::1`)).toEqual(TEN_STORED);
      const others = await slowImports(proxied.url, (n) => `2001:db8:${n}::1`);
      expect(others).toEqual(new Array<number>(12).fill(0));
    } finally {
      await proxied.stop();
    }
  });

  test('nginx stores no response of a client that does not read', async () => {
    const path = '/player/watch.js';
    const { hostname, port } = new URL(nginx.url);
    const clients = Array.from({ length: 8 }, () => {
      const client = connect({ host: hostname, port: Number(port) });
      client.pause();
      client.write(rawHead(`GET ${path}`, { Connection: 'keep-alive' }).repeat(20));
      return client;
    });
    await Bun.sleep(1_000);
    expect((await fetch(nginx.url + path)).status).toBe(200);
    for (const client of clients) client.destroy();
    expect(nginx.errorLog()).not.toContain('response is buffered to a temporary file');
  });

  test(
    '[N-9] nginx forwards a 503 with Retry-After while Redis is unavailable, and keeps the nodes in rotation',
    async () => {
      const sealed = (await currentInterval()) - 2;
      const body = await (await viewer.get(feedPath(sealed))).text();
      cluster.redis.pause();
      try {
        const path = `/api/v1/view-counts/${streamId}`;
        expect(await holdsSoon(async () => (await viewer.post(path)).status === 503)).toBe(true);
        for (let n = 0; n < 20; n++) {
          const refused = await viewer.post(path);
          expect(refused.status).toBe(503);
          expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
          const poll = await viewer.get(feedPath(await currentInterval()));
          expect(poll.status).toBe(503);
          expect(Number(poll.headers.get('retry-after'))).toBeGreaterThan(0);
          expect(await (await viewer.get(feedPath(sealed))).text()).toBe(body);
        }
      } finally {
        cluster.redis.resume();
      }
      const path = `/api/v1/view-counts/${streamId}`;
      expect(await holdsSoon(async () => (await viewer.post(path)).status === 204)).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );

  if (IS_FULL_RUN) {
    test(
      '[O-11] [N-13] clients get only successes and 503s with Retry-After when a node is killed or drains',
      async () => {
        const viewers = await Promise.all(
          Array.from({ length: 12 }, () => cluster.viewer(streamId)),
        );
        let isOver = false;
        const gets: number[] = [];
        const posts: number[] = [];
        const bodiesByInterval = new Map<number, Set<string>>();
        const from = await currentInterval();
        const polling = viewers.map(async (client) => {
          for (let interval = from; !isOver; ) {
            const response = await client.get(feedPath(interval));
            gets.push(response.status);
            const body = await response.text();
            if (response.status === 200) {
              bodiesByInterval.set(
                interval,
                (bodiesByInterval.get(interval) ?? new Set()).add(body),
              );
              interval++;
            } else {
              expect(response.headers.get('retry-after')).not.toBeNull();
              await Bun.sleep(50);
            }
          }
        });
        const heartbeats = viewers.map(async (client) => {
          while (!isOver) {
            const response = await client.post(`/api/v1/view-counts/${streamId}`);
            posts.push(response.status);
            if (!response.ok) expect(response.headers.get('retry-after')).not.toBeNull();
            await Bun.sleep(50);
          }
        });
        const load = Promise.all([...polling, ...heartbeats]);
        try {
          await Bun.sleep(500);
          cluster.nodes[0]?.signal('SIGKILL');
          await Bun.sleep(1_500);
          await cluster.restart(0);
          await Bun.sleep(500);
          const draining = cluster.nodes[1];
          draining?.signal('SIGTERM');
          expect(await draining?.exited).toBe(0);
          await Bun.sleep(500);
          await cluster.restart(1);
          await Bun.sleep(500);
        } finally {
          isOver = true;
          await load;
        }
        expect(new Set(gets).difference(new Set([200, 503]))).toEqual(new Set());
        expect(new Set(posts).difference(new Set([204, 503]))).toEqual(new Set());
        // nginx repeats a GET on another node, and a POST only if the dead node did not get it.
        expect(gets.filter((status) => status === 503).length).toBeLessThan(gets.length / 4);
        expect(posts.filter((status) => status === 503).length).toBeLessThan(posts.length / 4);
        expect([...bodiesByInterval.values()].filter((bodies) => bodies.size !== 1)).toEqual([]);
        expect(bodiesByInterval.size).toBeGreaterThan(8);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      '[N-4] nginx sends the viewers of a suspended node to another, which counts them and serves the feed',
      async () => {
        const viewers = await Promise.all(
          Array.from({ length: 12 }, () => cluster.viewer(streamId)),
        );
        const path = `/api/v1/view-counts/${streamId}`;
        const statusesOf = async () => {
          const responses = await Promise.all(viewers.map((client) => client.post(path)));
          return [...new Set(responses.map(({ status }) => status))];
        };
        expect(await statusesOf()).toEqual([204]);
        cluster.nodes[2]?.signal('SIGSTOP');
        try {
          const sealed = (await currentInterval()) - 2;
          const reads = Promise.all(viewers.map((client) => client.get(feedPath(sealed))));
          const [failureStatus = 0] = (await statusesOf()).filter((status) => status !== 204);
          expect([0, 503]).toContain(failureStatus);
          expect(await holdsSoon(async () => (await statusesOf()).join() === '204')).toBe(true);
          // nginx repeated the reads that waited for the suspended node on another one.
          expect((await reads).map(({ status }) => status)).toEqual(viewers.map(() => 200));
        } finally {
          cluster.nodes[2]?.signal('SIGCONT');
        }
      },
      TEST_TIMEOUT_MS,
    );
  }

  test('[O-14] nginx logs failures and studio requests, and no token or viewer', async () => {
    const viewers = `/streams/${viewer.streamId}/banned/`;
    await cluster.studio('DELETE', `${viewers}some-viewer`);
    const account = await cluster.studio('GET', '/account');
    expect(account.status).toBe(200);
    const isLogged = await holdsSoon(async () =>
      nginx.accessLog().some(({ path, status }) => path === '/studio/v1/account' && status === 200),
    );
    expect(isLogged).toBe(true);
    const text = JSON.stringify(nginx.accessLog());
    expect(text).not.toContain(viewer.token);
    expect(text).not.toContain('fb_');
    expect(text).not.toContain('some-viewer');
    expect(text).toContain(`"/studio/v1${viewers}"`);
    const loggedSuccesses = nginx
      .accessLog()
      .filter(({ path, status }) => String(path).startsWith('/api/') && Number(status) < 400);
    expect(loggedSuccesses).toEqual([]);
  });
});
