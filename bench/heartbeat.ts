import { startNginx } from './peers/nginx.ts';
import type { Peer } from './peers/peer.ts';
import { startProgram } from './peers/program.ts';
import { type Bench, WrongAnswer } from './run/bench.ts';
import { type Contender, compare } from './run/compare.ts';
import { startFourbeat } from './run/fourbeat.ts';
import type { Pinned } from './run/pinned.ts';
import { type WrkRequest, wrk } from './run/wrk.ts';

/** Viewers whose heartbeats are sent in turn. */
const VIEWERS = 1_000;

/** `POST /api/v1/view-counts/:stream_id` with a token, against those that do less and those that do the same. */
export const heartbeat: Bench = {
  name: 'heartbeat',
  about: 'a heartbeat with its token, against nginx, Node, Fastify and Hono',
  run: (options) =>
    compare(
      {
        bench: 'heartbeat',
        title: `heartbeats of ${VIEWERS} viewers over 64 connections`,
        contenders: [ours, nginx, node, counting('fastify', 'node'), counting('hono', 'bun')],
        targets: [
          { against: 'nginx, return 204', atLeast: 0.85, aim: 1 },
          { against: 'Fastify, @fastify/jwt', atLeast: 2, aim: 3 },
        ],
        notes: [
          'nginx and Node look at no token and count nobody. Fastify and Hono check a token and count its viewer; ' +
            '@fastify/jwt remembers tokens that were checked, Hono checks an HMAC each time.',
        ],
      },
      options,
    ),
};

const ours: Contender = {
  name: 'Fourbeat',
  start: async () => {
    const fourbeat = await startFourbeat();
    const { url, streamId, server } = fourbeat;
    const tokens = await fourbeat.tokens(VIEWERS);
    const requests = heartbeats(streamId, tokens);
    const countOf = async () => {
      const path = `${url}/api/v1/view-counts/${streamId}`;
      const answer = await fetch(path, { headers: { Authorization: `Bearer ${tokens[0]}` } });
      return ((await answer.json()) as { value: number }).value;
    };
    return {
      measure: (seconds) => measured({ url, server, requests, seconds, countOf }),
      stop: fourbeat.stop,
    };
  },
};

const nginx: Contender = {
  name: 'nginx, return 204',
  start: async () => idle(await startNginx('location / { return 204; }')),
};

const node: Contender = {
  name: 'Node http, 204',
  start: async () => idle(await startProgram('node', 'node-http.mjs')),
};

/** One that looks at nothing gets the same bytes. */
function idle({ url, server, stop }: Peer) {
  const token = 'x'.repeat(OUR_TOKEN_CHARS);
  const requests = heartbeats(crypto.randomUUID(), [token]);
  return { measure: (seconds: number) => measured({ url, server, requests, seconds }), stop };
}

/** As long as the tokens of ours are. */
const OUR_TOKEN_CHARS = 420;

function counting(framework: 'fastify' | 'hono', runtime: 'node' | 'bun'): Contender {
  return {
    name: framework === 'fastify' ? 'Fastify, @fastify/jwt' : 'Hono on Bun, hono/jwt',
    start: async () => {
      const { url, server, stop } = await startProgram(runtime, `${framework}-heartbeat.mjs`);
      const streamId = crypto.randomUUID();
      const tokens = await Promise.all(
        Array.from({ length: VIEWERS }, (_, seat) => tokenOf(url, { stream_id: streamId, seat })),
      );
      const requests = heartbeats(streamId, tokens);
      const countOf = async () =>
        ((await (await fetch(`${url}/count/${streamId}`)).json()) as { value: number }).value;
      return {
        measure: (seconds) => measured({ url, server, requests, seconds, countOf }),
        stop,
      };
    },
  };
}

async function tokenOf(url: string, claims: object): Promise<string> {
  const answer = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(claims),
  });
  return ((await answer.json()) as { token: string }).token;
}

function heartbeats(streamId: string, tokens: readonly string[]): WrkRequest[] {
  return tokens.map((token) => ({
    method: 'POST',
    path: `/api/v1/view-counts/${streamId}`,
    headers: { Authorization: `Bearer ${token}`, 'Content-Length': '0' },
  }));
}

interface Measuring {
  readonly url: string;
  readonly server: Pinned;
  readonly requests: readonly WrkRequest[];
  readonly seconds: number;
  /** How many viewers it counts now. */
  readonly countOf?: () => Promise<number>;
}

async function measured({ url, server, requests, seconds, countOf }: Measuring) {
  const before = server.usage();
  const working = wrk({ url, requests, seconds });
  // While all of them are there: the first second is for the load to begin.
  const counting = countOf ? Bun.sleep((seconds * 1_000 * 3) / 4).then(countOf) : null;
  const [outcome, count] = await Promise.all([working, counting]);
  const used = server.usage().cpuS - before.cpuS;
  if (count !== null && count !== requests.length) {
    throw new WrongAnswer(`${url} counts ${count} viewers of ${requests.length}`);
  }
  return {
    'requests/s': outcome.perSecond,
    'CPU µs a request': (used / outcome.requests) * 1e6,
    'p99 ms': outcome.p99Ms,
  };
}
