import { measureHeartbeats } from './heartbeat.ts';
import { sendAnswers } from './load/answer-step.ts';
import { ViewerTokens } from './load/viewer-tokens.ts';
import { startFramework } from './peers/framework.ts';
import { measureStatement } from './peers/statement.ts';
import type { Bench } from './run/bench.ts';
import { type Contender, compare, type Started } from './run/compare.ts';
import { type BenchDatabase, startClusterBackends, startDatabase } from './run/database.ts';
import { type Fourbeat, startFourbeat } from './run/fourbeat.ts';
import type { Usage } from './run/pinned.ts';
import { answerRequests, CHOICES, checkCounts, draftQuizzes, publishQuiz } from './run/quizzes.ts';

/** Each viewer answers each quiz once. */
const VIEWERS = 20_000;
/** Concurrent requests, as in the seconds before a close; the number of viewers is a multiple. */
const CONNECTIONS = 1_000;
/** Viewers whose heartbeats are measured for comparison. */
const HEARTBEAT_VIEWERS = 1_000;
/** A rate that a core cannot process, so that the load never runs out of requests. */
const ANSWERS_PER_S_MAX = 140_000;
/** Quizzes stay open for longer than the load, which needs time to connect. */
const AFTER_S = 4;
const ROWS_PER_TRANSACTION = 250;
const HEARTBEAT = 'Fourbeat, heartbeat';
const FASTIFY = 'Fastify, @fastify/jwt';

/** Durable answers, against our heartbeat and a typical service with Fastify and PostgreSQL. */
export const answer: Bench = {
  name: 'answer',
  description:
    'a durable answer to a quiz, against our heartbeat, Fastify and databases by themselves',
  requires: ['wrk', 'postgresql', 'redis-server'],
  run: async (options) => {
    const database = await startDatabase();
    try {
      const contenders = [
        inSqlite,
        heartbeat,
        inPostgres(database),
        fastify(database),
        databaseAlone('SQLite by itself', null),
        databaseAlone('PostgreSQL by itself', database),
      ];
      return await compare(
        {
          bench: 'answer',
          title: `answers of ${VIEWERS} viewers, each to each quiz once, over ${CONNECTIONS} connections`,
          contenders,
          targets: [{ against: HEARTBEAT, atLeast: 0.6, aim: 0.8 }],
          notes: [
            'An answer is acknowledged when its commit is on disk: SQLite has synchronous=FULL, PostgreSQL ' +
              'synchronous_commit=on. All answers were acknowledged, and the final count of each quiz was the same. ' +
              'The threads of SQLite and all processes of PostgreSQL run on the core of the server and are part of its CPU time.',
            `The heartbeats are those of ${HEARTBEAT_VIEWERS} viewers over 64 connections. Fastify stores each answer with its own INSERT. ` +
              `The databases by themselves run our statement with ${ROWS_PER_TRANSACTION} rows in a transaction; there a request is a row.`,
          ],
        },
        options,
      );
    } finally {
      await database.stop();
    }
  },
};

const inSqlite: Contender = {
  name: 'Fourbeat, SQLite',
  start: async () => {
    const fourbeat = await startFourbeat();
    return { measure: answerMeasurement(fourbeat, []), stop: fourbeat.stop };
  },
};

const inPostgres = (database: BenchDatabase): Contender => ({
  name: 'Fourbeat, PostgreSQL',
  start: async () => {
    const { settings, stop } = await startClusterBackends(database);
    const fourbeat = await startFourbeat(settings);
    const stopAll = async () => {
      await fourbeat.stop();
      await stop();
    };
    return { measure: answerMeasurement(fourbeat, [database]), stop: stopAll };
  },
});

function answerMeasurement(fourbeat: Fourbeat, others: readonly Measurable[]): Started['measure'] {
  const { url, streamId, server } = fourbeat;
  const tokens = new ViewerTokens(fourbeat);
  return async (seconds) => {
    const count = Math.ceil((ANSWERS_PER_S_MAX * seconds) / VIEWERS);
    const ids = await draftQuizzes(fourbeat, count, (seconds + AFTER_S) * 1_000);
    const viewers = await tokens.of(VIEWERS);
    const batches: ReturnType<typeof answerRequests>[] = [];
    for (const id of ids) batches.push(answerRequests(streamId, await publishQuiz(fourbeat, id)));
    const task = { url, connections: CONNECTIONS, tokens: viewers, batches, seconds };
    const { figures, accepted } = await sendAnswers(task, usageOf([server, ...others]));
    await checkCounts(fourbeat, ids, accepted);
    return figures;
  };
}

const heartbeat: Contender = {
  name: HEARTBEAT,
  start: async () => {
    const fourbeat = await startFourbeat();
    const { url, streamId, server, stop } = fourbeat;
    const tokens = new ViewerTokens(fourbeat);
    return {
      measure: async (seconds) => {
        const some = await tokens.of(HEARTBEAT_VIEWERS);
        return measureHeartbeats({ url, server, streamId, tokens: some, seconds });
      },
      stop,
    };
  },
};

const fastify = (database: BenchDatabase): Contender => ({
  name: 'Fastify, PostgreSQL',
  start: async () => {
    const peer = await startFramework(FASTIFY, { DATABASE: await database.create('fastify') });
    const { url, server, stop } = peer;
    const streamId = crypto.randomUUID();
    const tokens = new ViewerTokens({ tokens: (count) => peer.tokens(streamId, count) });
    const measure = async (seconds: number) => {
      const viewers = await tokens.of(VIEWERS);
      const closesMs = Date.now() + (seconds + AFTER_S) * 1_000;
      const count = Math.ceil((ANSWERS_PER_S_MAX * seconds) / VIEWERS);
      const ids = await peer.openQuizzes(streamId, { choices: CHOICES, closesMs }, count);
      const batches = ids.map((id) => answerRequests(streamId, { id, closeInterval: 0 }));
      const task = { url, connections: CONNECTIONS, tokens: viewers, batches, seconds };
      const { figures, accepted } = await sendAnswers(task, usageOf([server, database]));
      await peer.checkCounts(ids, accepted);
      return figures;
    };
    return { measure, stop };
  },
});

function databaseAlone(name: string, database: BenchDatabase | null): Contender {
  return {
    name,
    start: async () => {
      const url = (await database?.create('statement')) ?? null;
      return {
        measure: (seconds) => measureStatement(url, seconds, ROWS_PER_TRANSACTION),
        stop: async () => {},
      };
    },
  };
}

interface Measurable {
  usage(): Usage;
}

/** CPU time of all processes. */
function usageOf(all: readonly Measurable[]): () => number {
  return () => all.reduce((sum, one) => sum + one.usage().cpuS, 0);
}
