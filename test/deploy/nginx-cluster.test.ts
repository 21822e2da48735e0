import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Cluster, startCluster } from '../support/deploy/compose-cluster.ts';
import { type Nginx, startNginxOnFreePort } from '../support/deploy/nginx.ts';
import { expectJson, type TestViewer, viewerWith } from '../support/harness/harness.ts';
import { killServers } from '../support/harness/program.ts';

const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 60_000;
// Generous, for a busy machine; what waits for a buffer of 8 KB waits for much longer.
const SOON_INTERVALS = 12;

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

/** A read through nginx; again, as a client would, when sealing was late (F-9). */
async function read(interval: number): Promise<Response> {
  for (;;) {
    const response = await viewer.get(feedPath(interval));
    if (response.status !== 503) return response;
    await response.text();
  }
}

/** Tries until it holds; what must be right again soon. */
async function soon(holds: () => Promise<boolean>, forMs = 15_000): Promise<boolean> {
  const giveUpMs = performance.now() + forMs;
  while (performance.now() < giveUpMs) {
    if (await holds()) return true;
    await Bun.sleep(50);
  }
  return false;
}

/** The cache that people write when they think of load alone. */
function careless(config: string): string {
  const directory = /^pid (.*)\/nginx\.pid;$/m.exec(config)?.[1];
  const store = `proxy_cache_path ${directory}/cache keys_zone=careless:1m;`;
  const cache =
    'proxy_cache careless; proxy_cache_valid 200 1m; proxy_ignore_headers Cache-Control;';
  return config
    .replaceAll('proxy_buffering off;', '')
    .replace('proxy_cache off;', `${store}\n${cache}`);
}

describe('nginx of deploy/compose in front of three nodes', () => {
  test('[F-18] [T-11] a sealed interval has the same bytes through nginx as from every node, and nobody gets them without a token', async () => {
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

  test('[F-18] the same check sees a cache that gives stored bodies to people without a token', async () => {
    const leaky = await startNginxOnFreePort({
      nodes: cluster.nodes.map((node) => node.port),
      edit: careless,
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

  test('[F-4] polls are held through nginx, each for its interval', async () => {
    const from = (await currentInterval()) + 1;
    for (let interval = from; interval < from + 8; interval++) {
      const response = await read(interval);
      expect(await response.json()).toMatchObject({ interval });
      // It came soon: nothing had been waiting for a full buffer.
      expect(await currentInterval()).toBeLessThan(interval + SOON_INTERVALS);
    }
  });

  test('[F-21] events of a stream leave nginx one by one', async () => {
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
      expect(await currentInterval()).toBeLessThan(interval + SOON_INTERVALS);
    }
    await reader.cancel();
  });

  test('[L-7] a viewer stays with one node, so that its limits are exact', async () => {
    const eager = await cluster.viewer(streamId);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) {
      const path = `/api/v1/events-streams/${streamId}/chats`;
      statuses.push((await eager.post(path, { kind: 'heart' })).status);
    }
    expect(statuses).toEqual([204, 204, 204, 429, 429]);
  });

  test(
    '[N-9] while Redis is unavailable 503 comes with Retry-After, and nodes are not given up for it',
    async () => {
      const sealed = (await currentInterval()) - 2;
      const body = await (await viewer.get(feedPath(sealed))).text();
      cluster.redis.pause();
      try {
        const path = `/api/v1/view-counts/${streamId}`;
        expect(await soon(async () => (await viewer.post(path)).status === 503)).toBe(true);
        for (let n = 0; n < 20; n++) {
          const refused = await viewer.post(path);
          expect(refused.status).toBe(503);
          expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
          const held = await viewer.get(feedPath(await currentInterval()));
          expect(held.status).toBe(503);
          expect(Number(held.headers.get('retry-after'))).toBeGreaterThan(0);
          expect(await (await viewer.get(feedPath(sealed))).text()).toBe(body);
        }
      } finally {
        cluster.redis.resume();
      }
      const path = `/api/v1/view-counts/${streamId}`;
      expect(await soon(async () => (await viewer.post(path)).status === 204)).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    '[O-11] [N-13] a node that is killed, or drains, costs clients nothing but answers that say: again',
    async () => {
      const viewers = await Promise.all(Array.from({ length: 12 }, () => cluster.viewer(streamId)));
      let over = false;
      const gets: number[] = [];
      const posts: number[] = [];
      const seen = new Map<number, Set<string>>();
      const from = await currentInterval();
      const polling = viewers.map(async (one) => {
        for (let interval = from; !over; ) {
          const response = await one.get(feedPath(interval));
          gets.push(response.status);
          const body = await response.text();
          if (response.status === 200) {
            seen.set(interval, (seen.get(interval) ?? new Set()).add(body));
            interval++;
          } else {
            expect(response.headers.get('retry-after')).not.toBeNull();
            await Bun.sleep(50);
          }
        }
      });
      const beating = viewers.map(async (one) => {
        while (!over) {
          const response = await one.post(`/api/v1/view-counts/${streamId}`);
          posts.push(response.status);
          if (!response.ok) expect(response.headers.get('retry-after')).not.toBeNull();
          await Bun.sleep(50);
        }
      });
      const load = Promise.all([...polling, ...beating]);
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
        over = true;
        await load;
      }
      expect(new Set(gets).difference(new Set([200, 503]))).toEqual(new Set());
      expect(new Set(posts).difference(new Set([204, 503]))).toEqual(new Set());
      // A GET that met the dead node went to the next one, and a POST that was not sent yet.
      expect(gets.filter((status) => status === 503).length).toBeLessThan(gets.length / 4);
      expect(posts.filter((status) => status === 503).length).toBeLessThan(posts.length / 4);
      expect([...seen.values()].filter((bodies) => bodies.size !== 1)).toEqual([]);
      expect(seen.size).toBeGreaterThan(8);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    '[N-4] a node that hangs is left alone: its viewers are counted by another, and read there',
    async () => {
      const viewers = await Promise.all(Array.from({ length: 12 }, () => cluster.viewer(streamId)));
      const path = `/api/v1/view-counts/${streamId}`;
      const statusesOf = async () => {
        const beats = await Promise.all(viewers.map((one) => one.post(path)));
        return [...new Set(beats.map(({ status }) => status))];
      };
      expect(await statusesOf()).toEqual([204]);
      cluster.nodes[2]?.signal('SIGSTOP');
      try {
        const sealed = (await currentInterval()) - 2;
        const reads = Promise.all(viewers.map((one) => one.get(feedPath(sealed))));
        const [first = 0] = (await statusesOf()).filter((status) => status !== 204);
        expect([0, 503]).toContain(first);
        expect(await soon(async () => (await statusesOf()).join() === '204')).toBe(true);
        // A read that waited for it went to another node.
        expect((await reads).map(({ status }) => status)).toEqual(viewers.map(() => 200));
      } finally {
        cluster.nodes[2]?.signal('SIGCONT');
      }
    },
    TEST_TIMEOUT_MS,
  );

  test('[O-14] the log of nginx has errors and the studio, and no token', async () => {
    const account = await cluster.studio('GET', '/account');
    expect(account.status).toBe(200);
    const isThere = await soon(async () =>
      nginx.accessLog().some(({ path, status }) => path === '/studio/v1/account' && status === 200),
    );
    expect(isThere).toBe(true);
    const text = JSON.stringify(nginx.accessLog());
    expect(text).not.toContain(viewer.token);
    expect(text).not.toContain('fb_');
    const wellOnes = nginx
      .accessLog()
      .filter(({ path, status }) => String(path).startsWith('/api/') && Number(status) < 400);
    expect(wellOnes).toEqual([]);
  });
});
