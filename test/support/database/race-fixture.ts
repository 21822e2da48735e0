import { Client } from 'pg';
import pino from 'pino';
import { INTERVAL_MS, intervalStartMs } from '../../../protocol/interval.ts';
import { procedures, type Store } from '../../../server/app/procedures.ts';
import type { PublishedQuiz } from '../../../server/domains/quizzes/quizzes-sql.ts';
import { DomainError } from '../../../server/platform/errors.ts';
import type { SealedBody } from '../../../server/realtime/feed/sealed-sql.ts';
import type { SealOutcome } from '../../../server/realtime/feed/sealing-sql.ts';
import { openPostgresDatabase } from '../../../server/storage/sql/database-postgres.ts';
import { startPostgres } from '../backends/postgres.ts';
import { seededRandom } from '../seeded-random.ts';

// Several nodes in one process on one PostgreSQL: the tests are about their concurrent transactions.
// Every run prints its seed; `RACE_SEED` repeats it, except for the timing of the server.

export const NODES = 3;
export const PRODUCER = crypto.randomUUID();
/** First interval of the races. */
export const FIRST_INTERVAL = 7_000_000_000;
export const NOW_MS = FIRST_INTERVAL * INTERVAL_MS;

/** Nodes of one service; each has its own connections. */
export interface Fixture {
  readonly nodes: readonly Store[];
  /** The first of them. */
  readonly firstNode: Store;
  /** URL of their database. */
  readonly url: string;
  readonly random: () => number;
  /** Opens a separate connection, to inspect the database or to hold locks as a stalled process does. */
  openClient(): Promise<Client>;
  /** Stops everything. @throws when PostgreSQL had to resolve a deadlock */
  close(): Promise<void>;
}

/** Starts a PostgreSQL, with nodes and a producer's account on it. */
export async function openFixture(): Promise<Fixture> {
  const server = await startPostgres({ fsync: false });
  const url = await server.createDatabase('races');
  const logger = pino({ level: 'silent' });
  const options = { procedures, url, logger, connections: 6 };
  const databases = await Promise.all(
    Array.from({ length: NODES }, () => openPostgresDatabase(options)),
  );
  const nodes = databases.map(({ store }) => store);
  const firstNode = nodes[0] as Store;
  await firstNode.createAccount({
    user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: NOW_MS },
    token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
    nowMs: NOW_MS,
  });
  const clients: Client[] = [];
  const seed = Number(process.env.RACE_SEED ?? Date.now() % 2 ** 31);
  console.log(`races: RACE_SEED=${seed}`);
  return {
    nodes,
    firstNode,
    url,
    random: seededRandom(seed),
    async openClient() {
      const client = new Client({ connectionString: url });
      clients.push(client);
      await client.connect();
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.end()));
      await Promise.all(databases.map((database) => database.close()));
      const deadlocks = await deadlocksOf(server.url);
      await server.stop();
      // Calls are retried after a deadlock (N-19), but a consistent lock order causes none.
      if (deadlocks !== 0) throw new Error(`${deadlocks} deadlocks`);
    },
  };
}

async function deadlocksOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "select deadlocks from pg_stat_database where datname = 'races'",
  );
  await client.end();
  return Number(rows[0].deadlocks);
}

/** The items in random order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Runs a call on all nodes concurrently, up to 3 ms apart. @returns each result, or its error */
export function onAll<T>(
  { nodes, random }: Fixture,
  call: (node: Store, index: number) => Promise<T>,
): Promise<(T | Error)[]> {
  return Promise.all(
    nodes.map(async (node, index) => {
      await Bun.sleep(random() * 3);
      return call(node, index).catch((error: Error) => error);
    }),
  );
}

/** The kind of a domain error; throws any other value, which no race may result in. */
export function errorKindOf(result: unknown): DomainError['kind'] {
  if (result instanceof DomainError) return result.kind;
  throw result instanceof Error
    ? result
    : new Error(`expected a domain error: ${JSON.stringify(result)}`);
}

/** The domain errors among the results of concurrent calls; throws any other error. */
export function domainErrorsIn(results: readonly unknown[]): DomainError[] {
  return results
    .filter((result) => result instanceof Error)
    .map((error) => {
      if (error instanceof DomainError) return error;
      throw error;
    });
}

/** The kinds of the domain errors among the results. */
export function errorKindsIn(results: readonly unknown[]): DomainError['kind'][] {
  return domainErrorsIn(results).map(({ kind }) => kind);
}

/** Creates a stream. @returns its id */
export async function newStream({ firstNode }: Fixture): Promise<string> {
  const id = crypto.randomUUID();
  const stream = { title: 'A show', dash_url: null, hls_url: null, unlisted: false };
  await firstNode.createStream({
    id,
    producer: PRODUCER,
    stream: { ...stream, latencyAllowance: 0, recording: false },
    nowMs: NOW_MS,
  });
  return id;
}

export const QUIZ = {
  question: 'Which?',
  choices: ['a', 'b', 'c'],
  answer: 'a',
  duration: 1_000,
  reveal: 'auto' as const,
};

/** Creates a quiz draft. @returns its id and its owner */
export async function newDraft(
  { firstNode }: Fixture,
  streamId: string,
  quiz: Partial<typeof QUIZ> = {},
) {
  const own = { id: crypto.randomUUID(), producer: PRODUCER };
  await firstNode.createQuiz({ ...own, streamId, quiz: { ...QUIZ, ...quiz } });
  return own;
}

/** Publishes a new quiz. */
export async function newQuiz(
  fixture: Fixture,
  streamId: string,
  nowMs = NOW_MS,
): Promise<PublishedQuiz> {
  const own = await newDraft(fixture, streamId);
  return (await fixture.firstNode.publishQuiz({ ...own, nowMs })) as PublishedQuiz;
}

/** Seals up to an interval, concurrently with other nodes. @returns the bodies of this sealing */
export async function sealTo(node: Store, interval: number): Promise<readonly SealedBody[]> {
  const after = await node.readWatermark({});
  if (after >= interval) return [];
  const nowMs = (interval + 1) * INTERVAL_MS;
  const sealed = await node.sealInterval({ after, interval, nowMs, transients: [] });
  return sealed.outcome === 'sealed' ? sealed.bodies : [];
}

/** The events of a stream in the sealed feed, in order. */
export async function readSealedEvents({ firstNode }: Fixture, streamId: string) {
  const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
  const bodies = await firstNode.readSealedOfAll(all);
  return bodies
    .filter((body) => body.streamId === streamId)
    .flatMap(({ body }): { type: string; data: Record<string, unknown> | null }[] => {
      return JSON.parse(body).events;
    });
}

/** Seals an interval whose predecessor is sealed. */
export function sealNext(node: Store, interval: number): Promise<SealOutcome> {
  const nowMs = intervalStartMs(interval + 1);
  return node.sealInterval({ after: interval - 1, interval, nowMs, transients: [] });
}

/** Sends a numbered producer event. */
export async function sendEvent(
  node: Store,
  streamId: string,
  data: { number: number },
): Promise<void> {
  const event = { type: 'custom', data };
  await node.recordProducerEvent({ streamId, producer: PRODUCER, event, nowMs: NOW_MS });
}

/** The number of an event of `sendEvent`. */
export function numberIn({ data }: { data: { number?: number } | null }): number {
  return data?.number ?? -1;
}
