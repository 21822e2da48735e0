import { OUR_TOKEN_CHARS } from './heartbeat.ts';
import { type FRAMEWORKS, startFramework } from './peers/framework.ts';
import { startNginx } from './peers/nginx.ts';
import type { Peer } from './peers/peer.ts';
import { startProgram } from './peers/program.ts';
import { type Bench, WrongAnswer } from './run/bench.ts';
import { type Contender, compare, type Started } from './run/compare.ts';
import { startFourbeat } from './run/fourbeat.ts';
import { underLoad } from './run/loaded.ts';
import type { Pinned } from './run/pinned.ts';
import { rawAnswer } from './run/raw-answer.ts';
import { CONNECTIONS } from './run/wrk.ts';
import { requestText, type WrkRequest } from './run/wrk-script.ts';
import { makeTypicalInterval, type TypicalInterval } from './typical.ts';

/** Viewers who read in turn. */
const VIEWERS = 1_000;
const SAMPLE_EVERY_MS = 20;

/** `GET /api/v1/events-streams/:stream_id` of a sealed interval, against the same bytes from others. */
export const feed: Bench = {
  name: 'feed',
  about:
    'a sealed interval with a token, against the same bytes from nginx, Node, Fastify and Hono',
  needs: ['wrk', 'nginx'],
  run: async (options) => {
    const told: Told = { latest: null };
    const result = await compare(
      {
        bench: 'feed',
        title: `a sealed interval, read by ${VIEWERS.toLocaleString('en')} viewers over 64 connections`,
        contenders: [
          ours(told),
          nginx(told),
          node(told),
          framework('Fastify, @fastify/jwt', told),
          framework('Hono on Bun, hono/jwt', told),
        ],
        targets: [{ against: 'nginx, static file', atLeast: 0.85, aim: 1 }],
      },
      options,
    );
    const bytes = told.latest?.body.length;
    return {
      ...result,
      notes: [
        `The body has ${bytes} bytes: a count, two lines of chat and hearts. nginx has it in a file that ` +
          'stays open, Node in memory; they look at no token. Fastify and Hono check a token and look ' +
          'the interval up. All bytes that came were counted, and the body was compared 50 times a second.',
      ],
    };
  },
};

/** The interval that ours told last: others have the same bytes. */
interface Told {
  latest: TypicalInterval | null;
}

const ours = (told: Told): Contender => ({
  name: 'Fourbeat',
  start: async () => {
    const fourbeat = await startFourbeat();
    const { url, streamId, server, stop } = fourbeat;
    const tokens = await fourbeat.tokens(VIEWERS);
    return {
      measure: async (seconds) => {
        // A new one for each turn: an old one would be read from the database.
        const { interval, body } = await makeTypicalInterval(fourbeat, tokens);
        const size = told.latest?.body.length ?? body.length;
        if (body.length !== size) {
          throw new WrongAnswer(`one interval has ${body.length} bytes, another ${size}`);
        }
        told.latest = { interval, body };
        return measured({
          url,
          server,
          requests: reads(streamId, interval, tokens),
          body,
          seconds,
        });
      },
      stop,
    };
  },
});

const nginx = (told: Told): Contender => ({
  name: 'nginx, static file',
  start: async () => {
    const { body, streamId } = { ...toldBy(told), streamId: crypto.randomUUID() };
    const location = 'location / { root FILES; }';
    const file = `api/v1/events-streams/${streamId}`;
    return idle(await startNginx(location, { [file]: body }), streamId, told);
  },
});

const node = (told: Told): Contender => ({
  name: 'Node http, constant body',
  start: async () => {
    const { body } = toldBy(told);
    return idle(
      await startProgram('node', 'node-http.mjs', { BODY: body }),
      crypto.randomUUID(),
      told,
    );
  },
});

/** One that looks at no token gets the same bytes of a request. */
function idle({ url, server, stop }: Peer, streamId: string, told: Told): Started {
  const { interval, body } = toldBy(told);
  const requests = reads(streamId, interval, ['x'.repeat(OUR_TOKEN_CHARS)]);
  return { measure: (seconds) => measured({ url, server, requests, body, seconds }), stop };
}

const framework = (name: keyof typeof FRAMEWORKS, told: Told): Contender => ({
  name,
  start: async () => {
    const peer = await startFramework(name);
    const { url, server, stop } = peer;
    const streamId = crypto.randomUUID();
    const tokens = await peer.tokens(streamId, VIEWERS);
    const { interval, body } = toldBy(told);
    await peer.tell(streamId, interval, body);
    const requests = reads(streamId, interval, tokens);
    return { measure: (seconds) => measured({ url, server, requests, body, seconds }), stop };
  },
});

function toldBy({ latest }: Told): TypicalInterval {
  if (!latest) throw new Error('ours is the first that is asked');
  return latest;
}

function reads(streamId: string, interval: number, tokens: readonly string[]): WrkRequest[] {
  return tokens.map((token) => ({
    method: 'GET',
    path: `/api/v1/events-streams/${streamId}?interval=${interval}`,
    headers: { Authorization: `Bearer ${token}` },
  }));
}

interface Measuring {
  readonly url: string;
  readonly server: Pinned;
  readonly requests: readonly WrkRequest[];
  /** What every answer has to have. */
  readonly body: string;
  readonly seconds: number;
}

async function measured({ url, server, requests, body, seconds }: Measuring) {
  const text = requestText(requests[0] as WrkRequest, new URL(url).host);
  let size = 0;
  const check = async (ending: AbortSignal) => {
    while (!ending.aborted) {
      const answer = await rawAnswer(url, text);
      if (answer.status !== 200 || answer.body.toString() !== body) {
        throw new WrongAnswer(`${url} answers ${answer.status} with another body`);
      }
      size = answer.bytes;
      await Bun.sleep(SAMPLE_EVERY_MS);
    }
  };
  const { outcome, figures } = await underLoad({ url, server, requests, seconds, check });
  // What was on its way at the end is in the bytes alone.
  const more = outcome.bytes - outcome.requests * size;
  if (more < 0 || more > CONNECTIONS * size) {
    throw new WrongAnswer(
      `${url}: ${outcome.requests} answers of ${size} bytes are not ${outcome.bytes} bytes`,
    );
  }
  return figures;
}
