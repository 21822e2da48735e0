import { describe, expect, test } from 'bun:test';
import { type Nginx, type NginxOptions, startNginxOnFreePort } from '../support/deploy/nginx.ts';

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
