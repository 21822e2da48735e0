import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { fourbeatHeartbeats, frameworkHeartbeats } from './heartbeat.ts';
import { startFramework } from './peers/framework.ts';
import { type Bench, type BenchOptions, IncorrectResponse } from './run/bench.ts';
import { type Contender, compare } from './run/compare.ts';
import { startFourbeat } from './run/fourbeat.ts';
import { measureUnderLoad } from './run/measure-under-load.ts';
import { mergeResults } from './run/merge-results.ts';
import type { Pinned } from './run/pinned.ts';
import { CONNECTIONS } from './run/wrk.ts';
import { NUMBER } from './run/wrk-script.ts';

/** Fewer than the server verifies in a second, so that all viewers are counted. */
const VIEWERS = 2_000;
/** A token cache so small that no token is cached when it is used again. */
const NO_TOKEN_CACHE = ['--token-cache-size', '100'];
const SAMPLE_EVERY_MS = 50;
/** The most tokens that a measurement issues. */
const TOKENS_MAX = 10_000_000;
const FASTIFY = 'Fastify, @fastify/jwt';

/** `POST /api/v1/token`, and the cost of verifying a new and a cached token. */
export const token: Bench = {
  name: 'token',
  description: 'tokens of new viewers, and what it costs to check one, against Fastify',
  requires: ['wrk'],
  run: async (options) =>
    mergeResults(
      {
        bench: 'token',
        title: 'tokens over 64 connections',
        notes: [
          'Issued: each token is for a new viewer. Our service issues it when the seat is on disk; Fastify has seats in memory. ' +
            'All seats were different, every sampled token was valid, and there were as many seats as responses.',
          `Checked: heartbeats of ${VIEWERS} viewers, EdDSA, on a server that caches no token (first) or all tokens (again). All viewers were counted.`,
        ],
      },
      {
        issued: await compareContenders(options, issuing),
        'checked first': await compareContenders(
          options,
          checking(NO_TOKEN_CACHE, { CACHED_TOKENS: '0' }),
        ),
        'checked again': await compareContenders(options, checking([], {})),
      },
    ),
};

function compareContenders(options: BenchOptions, contenders: readonly Contender[]) {
  return compare({ bench: 'token', title: '', contenders, targets: [] }, options);
}

const issuing: readonly Contender[] = [
  {
    name: 'Fourbeat',
    start: async () => {
      const { url, streamId, server, stop } = await startFourbeat();
      const published = await fetch(`${url}/.well-known/jwks.json`);
      const jwks = createLocalJWKSet((await published.json()) as JSONWebKeySet);
      const isValid = async (token: string) => {
        const { payload } = await jwtVerify(token, jwks, { audience: 'fourbeat' });
        return payload.stream_id === streamId;
      };
      return { measure: issuer({ url, server, streamId, isValid }), stop };
    },
  },
  {
    name: FASTIFY,
    start: async () => {
      // Without a token cache, so that it verifies every token of the sample.
      const { url, server, stop } = await startFramework(FASTIFY, { CACHED_TOKENS: '0' });
      const streamId = crypto.randomUUID();
      const isValid = async (token: string) => {
        const path = `${url}/api/v1/view-counts/${streamId}`;
        const headers = { Authorization: `Bearer ${token}` };
        return (await fetch(path, { method: 'POST', headers })).status === 204;
      };
      return { measure: issuer({ url, server, streamId, isValid }), stop };
    },
  },
];

interface Issuing {
  readonly url: string;
  readonly server: Pinned;
  readonly streamId: string;
  readonly isValid: (token: string) => Promise<boolean>;
}

/** Issues tokens to new viewers. */
function issuer({ url, server, streamId, isValid }: Issuing) {
  let measurement = 0;
  let samples = 0;
  const path = '/api/v1/token';
  const headers = { 'Content-Type': 'application/json' };
  const bodyOf = (viewer: string) =>
    JSON.stringify({ stream_id: streamId, unique_user_identifier: viewer });

  /** The seat of a new viewer, from a decoded token. */
  async function sample(): Promise<number> {
    samples += 1;
    const init = { method: 'POST', headers, body: bodyOf(`sample ${samples}`) };
    const { token } = (await (await fetch(`${url}${path}`, init)).json()) as { token: string };
    if (!(await isValid(token))) throw new IncorrectResponse(`${url} issued an invalid token`);
    return decodeJwt<{ seat: number }>(token).seat;
  }

  return async (seconds: number) => {
    measurement += 1;
    const requests = [{ method: 'POST', path, headers, body: bodyOf(`viewer ${NUMBER}`) }];
    const seats = [await sample()];
    const check = async (loadEnded: AbortSignal) => {
      while (!loadEnded.aborted) {
        seats.push(await sample());
        await Bun.sleep(SAMPLE_EVERY_MS);
      }
    };
    const previousNumber = measurement * TOKENS_MAX;
    const load = { url, server, requests, previousNumber, seconds, check };
    const { outcome, figures } = await measureUnderLoad(load);
    seats.push(await sample());
    if (new Set(seats).size < seats.length)
      throw new IncorrectResponse(`${url} issued a seat twice`);
    const issued = (seats.at(-1) as number) - (seats[0] as number) - (seats.length - 1);
    // Requests in progress at the end have a seat, too.
    if (issued < outcome.requests || issued > outcome.requests + CONNECTIONS) {
      throw new IncorrectResponse(
        `${url} answered ${outcome.requests} times and issued ${issued} seats`,
      );
    }
    return figures;
  };
}

/** Heartbeats of viewers whose tokens are cached, or not. */
const checking = (settings: readonly string[], env: Record<string, string>) => [
  fourbeatHeartbeats(VIEWERS, settings),
  frameworkHeartbeats(FASTIFY, VIEWERS, env),
];
