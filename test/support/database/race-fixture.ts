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

// Several nodes on one PostgreSQL, without a network between: what meets there is what these tests
// are about. Every run has a seed; `RACE_SEED` repeats one as far as the server's own timing does.

export const NODES = 3;
export const PRODUCER = crypto.randomUUID();
/** Start of the intervals that the races are in. */
export const FIRST_INTERVAL = 7_000_000_000;
export const NOW_MS = FIRST_INTERVAL * INTERVAL_MS;

/** Nodes of one service, with connections of their own each. */
export interface Fixture {
  readonly nodes: readonly Store[];
  /** One of them. */
  readonly any: Store;
  /** The database they are on. */
  readonly url: string;
  readonly random: () => number;
  /** A connection of nobody's: it looks, or holds locks as a stalled process does. */
  outsider(): Promise<Client>;
  /** Ends it all. @throws when two transactions waited for each other, and one was sacrificed */
  close(): Promise<void>;
}

/** Starts a PostgreSQL, with nodes and a producer's account on it. */
export async function openFixture(): Promise<Fixture> {
  const server = await startPostgres({ fsync: false });
  const url = await server.createDatabase('races');
  const logger = pino({ level: 'silent' });
  const options = { procedures, url, logger, connections: 6 };
  const records = await Promise.all(
    Array.from({ length: NODES }, () => openPostgresDatabase(options)),
  );
  const nodes = records.map(({ store }) => store);
  const any = nodes[0] as Store;
  await any.createAccount({
    user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: NOW_MS },
    token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
    nowMs: NOW_MS,
  });
  const outsiders: Client[] = [];
  const seed = Number(process.env.RACE_SEED ?? Date.now() % 2 ** 31);
  console.log(`races: RACE_SEED=${seed}`);
  return {
    nodes,
    any,
    url,
    random: seededRandom(seed),
    async outsider() {
      const client = new Client({ connectionString: url });
      outsiders.push(client);
      await client.connect();
      return client;
    },
    async close() {
      await Promise.all(outsiders.map((client) => client.end()));
      await Promise.all(records.map((database) => database.close()));
      const deadlocks = await deadlocksOf(server.url);
      await server.stop();
      // They are tried again (N-19), but an order of locks that is kept has none.
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

/** The items in any order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Calls something on every node at once, a moment apart. @returns what each said, or its error */
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

/** The kind of a refusal; throws what is none, which no race may end in. */
export function errorKindOf(told: unknown): DomainError['kind'] {
  if (told instanceof DomainError) return told.kind;
  throw told instanceof Error ? told : new Error(`not refused: ${JSON.stringify(told)}`);
}

/** What of several that met was refused; throws for an error that is no refusal, as `refusalOf`. */
export function domainErrorsIn(told: readonly unknown[]): DomainError[] {
  return told
    .filter((one) => one instanceof Error)
    .map((one) => {
      if (one instanceof DomainError) return one;
      throw one;
    });
}

/** The kinds of these refusals. */
export function errorKindsIn(told: readonly unknown[]): DomainError['kind'][] {
  return domainErrorsIn(told).map(({ kind }) => kind);
}

/** Makes a stream. @returns its id */
export async function newStream({ any }: Fixture): Promise<string> {
  const id = crypto.randomUUID();
  const stream = { title: 'A show', dash_url: null, hls_url: null, unlisted: false };
  await any.createStream({
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

/** Makes a draft. @returns what names it to its owner */
export async function newDraft(
  { any }: Fixture,
  streamId: string,
  quiz: Partial<typeof QUIZ> = {},
) {
  const own = { id: crypto.randomUUID(), producer: PRODUCER };
  await any.createQuiz({ ...own, streamId, quiz: { ...QUIZ, ...quiz } });
  return own;
}

/** Publishes a quiz; it takes answers of `openInterval(quiz)`. */
export async function newQuiz(
  fixture: Fixture,
  streamId: string,
  nowMs = NOW_MS,
): Promise<PublishedQuiz> {
  const own = await newDraft(fixture, streamId);
  return (await fixture.any.publishQuiz({ ...own, nowMs })) as PublishedQuiz;
}

/** Seals up to an interval, whoever else does. @returns the bodies that this sealing made */
export async function sealTo(node: Store, interval: number): Promise<readonly SealedBody[]> {
  const after = await node.readWatermark({});
  if (after >= interval) return [];
  const nowMs = (interval + 1) * INTERVAL_MS;
  const sealed = await node.sealInterval({ after, interval, nowMs, transients: [] });
  return sealed.outcome === 'sealed' ? sealed.bodies : [];
}

/** The events of a stream in the sealed feed, in order. */
export async function readSealedEvents({ any }: Fixture, streamId: string) {
  const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
  const bodies = await any.readSealedOfAll(all);
  return bodies
    .filter((body) => body.streamId === streamId)
    .flatMap(({ body }): { type: string; data: Record<string, unknown> | null }[] => {
      return JSON.parse(body).events;
    });
}

/** Seals one interval, as one who knows that the one before it is sealed. */
export function sealNow(node: Store, interval: number): Promise<SealOutcome> {
  const nowMs = intervalStartMs(interval + 1);
  return node.sealInterval({ after: interval - 1, interval, nowMs, transients: [] });
}

/** Accepts an event of the producer's own that has a number. */
export async function sendEvent(
  node: Store,
  streamId: string,
  data: { number: number },
): Promise<void> {
  const event = { type: 'custom', data };
  await node.recordProducerEvent({ streamId, producer: PRODUCER, event, nowMs: NOW_MS });
}

/** The number in such an event. */
export function numberIn({ data }: { data: { number?: number } | null }): number {
  return data?.number ?? -1;
}
