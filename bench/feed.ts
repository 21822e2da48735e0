import { OUR_TOKEN_CHARS } from './heartbeat.ts';
import { type FRAMEWORKS, startFramework } from './peers/framework.ts';
import { startNginx } from './peers/nginx.ts';
import type { Peer } from './peers/peer.ts';
import { startPeer } from './peers/program.ts';
import { type Bench, IncorrectResponse } from './run/bench.ts';
import { type Contender, compare, type Started } from './run/compare.ts';
import { fetchRaw } from './run/fetch-raw.ts';
import { startFourbeat } from './run/fourbeat.ts';
import { measureUnderLoad } from './run/measure-under-load.ts';
import type { Pinned } from './run/pinned.ts';
import { CONNECTIONS } from './run/wrk.ts';
import { requestText, type WrkRequest } from './run/wrk-script.ts';
import { makeTypicalInterval, type TypicalInterval } from './typical.ts';

/** Viewers who read cyclically. */
const VIEWERS = 1_000;
const SAMPLE_EVERY_MS = 20;

/** `GET /api/v1/events-streams/:stream_id` of a sealed interval, against other servers of the same bytes. */
export const feed: Bench = {
  name: 'feed',
  description:
    'a sealed interval with a token, against the same bytes from nginx, Node, Fastify and Hono',
  requires: ['wrk', 'nginx'],
  run: async (options) => {
    const reference: ReferenceInterval = { latest: null };
    const result = await compare(
      {
        bench: 'feed',
        title: `a sealed interval, read by ${VIEWERS.toLocaleString('en')} viewers over 64 connections`,
        contenders: [
          fourbeatContender(reference),
          nginx(reference),
          node(reference),
          framework('Fastify, @fastify/jwt', reference),
          framework('Hono on Bun, hono/jwt', reference),
        ],
        targets: [{ against: 'nginx, static file', atLeast: 0.85, aim: 1 }],
      },
      options,
    );
    const bytes = reference.latest?.body.length;
    return {
      ...result,
      notes: [
        `The body has ${bytes} bytes: the view count, a chat message, a question and hearts. nginx serves it from a ` +
          'file that stays open, Node from memory; both ignore the token. Fastify and Hono verify the token and ' +
          'look up the interval. The number of received bytes was checked, and the body was compared 50 times a second.',
      ],
    };
  },
};

/** The latest interval of our service; the other contenders serve the same bytes. */
interface ReferenceInterval {
  latest: TypicalInterval | null;
}

const fourbeatContender = (reference: ReferenceInterval): Contender => ({
  name: 'Fourbeat',
  start: async () => {
    const fourbeat = await startFourbeat();
    const { url, streamId, server, stop } = fourbeat;
    const tokens = await fourbeat.tokens(VIEWERS);
    return {
      measure: async (seconds) => {
        // A new interval each time, since an old one would be read from the database.
        const { interval, body } = await makeTypicalInterval(fourbeat, tokens);
        const size = reference.latest?.body.length ?? body.length;
        if (body.length !== size) {
          throw new IncorrectResponse(`one interval has ${body.length} bytes, another ${size}`);
        }
        reference.latest = { interval, body };
        return measureReads({
          url,
          server,
          requests: readRequests(streamId, interval, tokens),
          body,
          seconds,
        });
      },
      stop,
    };
  },
});

const nginx = (reference: ReferenceInterval): Contender => ({
  name: 'nginx, static file',
  start: async () => {
    const { body, streamId } = { ...latestOf(reference), streamId: crypto.randomUUID() };
    const location = 'location / { root FILES; }';
    const file = `api/v1/events-streams/${streamId}`;
    return withoutTokenCheck(await startNginx(location, { [file]: body }), streamId, reference);
  },
});

const node = (reference: ReferenceInterval): Contender => ({
  name: 'Node http, constant body',
  start: async () => {
    const { body } = latestOf(reference);
    return withoutTokenCheck(
      await startPeer('node', 'node-http.mjs', { BODY: body }),
      crypto.randomUUID(),
      reference,
    );
  },
});

/** Measures a server that ignores the token, with a token of the same size. */
function withoutTokenCheck(
  { url, server, stop }: Peer,
  streamId: string,
  reference: ReferenceInterval,
): Started {
  const { interval, body } = latestOf(reference);
  const requests = readRequests(streamId, interval, ['x'.repeat(OUR_TOKEN_CHARS)]);
  return { measure: (seconds) => measureReads({ url, server, requests, body, seconds }), stop };
}

const framework = (name: keyof typeof FRAMEWORKS, reference: ReferenceInterval): Contender => ({
  name,
  start: async () => {
    const peer = await startFramework(name);
    const { url, server, stop } = peer;
    const streamId = crypto.randomUUID();
    const tokens = await peer.tokens(streamId, VIEWERS);
    const { interval, body } = latestOf(reference);
    await peer.publish(streamId, interval, body);
    const requests = readRequests(streamId, interval, tokens);
    return { measure: (seconds) => measureReads({ url, server, requests, body, seconds }), stop };
  },
});

function latestOf({ latest }: ReferenceInterval): TypicalInterval {
  if (!latest) throw new Error('our service must be measured first');
  return latest;
}

function readRequests(streamId: string, interval: number, tokens: readonly string[]): WrkRequest[] {
  return tokens.map((token) => ({
    method: 'GET',
    path: `/api/v1/events-streams/${streamId}?interval=${interval}`,
    headers: { Authorization: `Bearer ${token}` },
  }));
}

interface FeedLoad {
  readonly url: string;
  readonly server: Pinned;
  readonly requests: readonly WrkRequest[];
  /** The expected body of every response. */
  readonly body: string;
  readonly seconds: number;
}

async function measureReads({ url, server, requests, body, seconds }: FeedLoad) {
  const text = requestText(requests[0] as WrkRequest, new URL(url).host);
  let responseBytes = 0;
  const check = async (loadEnded: AbortSignal) => {
    while (!loadEnded.aborted) {
      const response = await fetchRaw(url, text);
      if (response.status !== 200 || response.body.toString() !== body) {
        throw new IncorrectResponse(
          `${url} responded ${response.status}, or with an unexpected body`,
        );
      }
      responseBytes = response.bytes;
      await Bun.sleep(SAMPLE_EVERY_MS);
    }
  };
  const { outcome, figures } = await measureUnderLoad({ url, server, requests, seconds, check });
  // Responses in flight at the end are in the bytes, but not in the requests.
  const extraBytes = outcome.bytes - outcome.requests * responseBytes;
  if (extraBytes < 0 || extraBytes > CONNECTIONS * responseBytes) {
    throw new IncorrectResponse(
      `${url}: ${outcome.requests} responses of ${responseBytes} bytes are not ${outcome.bytes} bytes`,
    );
  }
  return figures;
}
