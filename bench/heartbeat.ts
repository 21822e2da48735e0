import { type FRAMEWORKS, startFramework } from './peers/framework.ts';
import { startNginx } from './peers/nginx.ts';
import type { Peer } from './peers/peer.ts';
import { startPeer } from './peers/program.ts';
import { type Bench, IncorrectResponse } from './run/bench.ts';
import { type Contender, compare } from './run/compare.ts';
import { startFourbeat } from './run/fourbeat.ts';
import { measureUnderLoad } from './run/measure-under-load.ts';
import type { Pinned } from './run/pinned.ts';
import type { WrkRequest } from './run/wrk-script.ts';

/** Viewers whose heartbeats are sent cyclically. */
const VIEWERS = 1_000;
const COUNT_EVERY_MS = 100;

/** The approximate length of our tokens. */
export const OUR_TOKEN_CHARS = 420;

/** `POST /api/v1/view-counts/:stream_id` with a token, against minimal servers and equivalent services. */
export const heartbeat: Bench = {
  name: 'heartbeat',
  description: 'a heartbeat with its token, against nginx, Node, Fastify and Hono',
  requires: ['wrk', 'nginx'],
  run: (options) =>
    compare(
      {
        bench: 'heartbeat',
        title: `heartbeats of ${VIEWERS.toLocaleString('en')} viewers over 64 connections`,
        contenders: [
          fourbeatHeartbeats(VIEWERS),
          nginx,
          node,
          frameworkHeartbeats('Fastify, @fastify/jwt', VIEWERS),
          frameworkHeartbeats('Hono on Bun, hono/jwt', VIEWERS),
        ],
        targets: [
          { against: 'nginx, return 204', atLeast: 0.85, aim: 1 },
          { against: 'Fastify, @fastify/jwt', atLeast: 2, aim: 3 },
        ],
        notes: [
          'nginx and Node ignore the token and count no viewer. Fastify and Hono verify the token and count its viewer; ' +
            '@fastify/jwt caches verified tokens in its fastest way; Hono verifies an HMAC each time.',
        ],
      },
      options,
    ),
};

/** Our service with this many viewers. @param settings further options of `serve` */
export const fourbeatHeartbeats = (
  viewers: number,
  settings: readonly string[] = [],
): Contender => ({
  name: 'Fourbeat',
  start: async () => {
    const fourbeat = await startFourbeat(settings);
    const { url, streamId, server, stop } = fourbeat;
    const tokens = await fourbeat.tokens(viewers);
    return {
      measure: (seconds) => measureHeartbeats({ url, server, streamId, tokens, seconds }),
      stop,
    };
  },
});

/** A framework that verifies tokens and counts this many viewers. */
export const frameworkHeartbeats = (
  name: keyof typeof FRAMEWORKS,
  viewers: number,
  env: Readonly<Record<string, string>> = {},
): Contender => ({
  name,
  start: async () => {
    const peer = await startFramework(name, env);
    const { url, server, stop } = peer;
    const streamId = crypto.randomUUID();
    const tokens = await peer.tokens(streamId, viewers);
    return {
      measure: (seconds) => measureHeartbeats({ url, server, streamId, tokens, seconds }),
      stop,
    };
  },
});

const nginx: Contender = {
  name: 'nginx, return 204',
  start: async () => withoutTokenCheck(await startNginx('location / { return 204; }')),
};

const node: Contender = {
  name: 'Node http, 204',
  start: async () => withoutTokenCheck(await startPeer('node', 'node-http.mjs')),
};

/** Measures a server that ignores the token, with a token of the same size. */
function withoutTokenCheck({ url, server, stop }: Peer) {
  const requests = heartbeatRequests(crypto.randomUUID(), ['x'.repeat(OUR_TOKEN_CHARS)]);
  return {
    measure: async (seconds: number) =>
      (await measureUnderLoad({ url, server, requests, seconds })).figures,
    stop,
  };
}

function heartbeatRequests(streamId: string, tokens: readonly string[]): WrkRequest[] {
  return tokens.map((token) => ({
    method: 'POST',
    path: `/api/v1/view-counts/${streamId}`,
    headers: { Authorization: `Bearer ${token}`, 'Content-Length': '0' },
  }));
}

/** A service, and the viewers who send heartbeats to it. */
interface HeartbeatLoad {
  readonly url: string;
  readonly server: Pinned;
  readonly streamId: string;
  readonly tokens: readonly string[];
  readonly seconds: number;
}

/** Measures heartbeats of all viewers. @throws IncorrectResponse when the highest count is not that of all viewers */
export async function measureHeartbeats({ url, server, streamId, tokens, seconds }: HeartbeatLoad) {
  const check = async (loadEnded: AbortSignal) => {
    const path = `${url}/api/v1/view-counts/${streamId}`;
    const headers = { Authorization: `Bearer ${tokens[0]}` };
    let maxCount = 0;
    // On a busy machine heartbeats may be late, so that the count is lower for a while.
    while (!loadEnded.aborted) {
      const { value } = (await (await fetch(path, { headers })).json()) as { value: number };
      maxCount = Math.max(maxCount, value);
      await Bun.sleep(COUNT_EVERY_MS);
    }
    if (maxCount === tokens.length) return;
    throw new IncorrectResponse(`${url} counts ${maxCount} viewers of ${tokens.length}`);
  };
  const requests = heartbeatRequests(streamId, tokens);
  return (await measureUnderLoad({ url, server, requests, seconds, check })).figures;
}
