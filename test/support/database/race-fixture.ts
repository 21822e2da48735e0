import { Client } from 'pg';
import pino from 'pino';
import { INTERVAL_MS, intervalStartMs } from '../../../protocol/interval.ts';
import type { NewQuiz } from '../../../protocol/studio.ts';
import { procedures, type Store } from '../../../server/app/procedures.ts';
import type { PublishedQuiz } from '../../../server/domains/quizzes/quizzes-sql.ts';
import { DomainError } from '../../../server/platform/errors.ts';
import type { SealedBody } from '../../../server/realtime/feed/sealed-sql.ts';
import type { SealOutcome } from '../../../server/realtime/feed/sealing-sql.ts';
import { openPostgresDatabase } from '../../../server/storage/sql/database-postgres.ts';
import { openSession, type PostgresSession } from '../../../server/storage/sql/postgres.ts';
import type { Database } from '../../../server/storage/sql/procedure.ts';
import { type PostgresServer, startPostgres } from '../backends/postgres.ts';
import { seededRandom } from '../seeded-random.ts';
import { STREAM } from '../streams/show-fixture.ts';

// Several nodes in one process on one PostgreSQL: the tests are about their concurrent transactions.
// Every run prints its seed; `RACE_SEED` repeats it, except for the timing of the server.

export const NODES = 3;
export const PRODUCER = crypto.randomUUID();
/** First interval of the races. */
export const FIRST_INTERVAL = 7_000_000_000;
export const NOW_MS = FIRST_INTERVAL * INTERVAL_MS;

/** Nodes of one service on one PostgreSQL, each with its own connections, and a producer's account. */
export class RaceFixture {
  nodes: readonly Store[] = [];
  /** URL of the nodes' database. */
  url = '';
  /** Numbers in [0, 1). */
  random: () => number = Math.random;
  private server: PostgresServer | undefined;
  private databases: readonly Database<typeof procedures>[] = [];
  private readonly closing: (() => Promise<void>)[] = [];

  /** The store of the first node. */
  get store(): Store {
    return this.nodes[0] as Store;
  }

  async open(): Promise<void> {
    this.server = await startPostgres({ fsync: false });
    this.url = await this.server.createDatabase('races');
    const logger = pino({ level: 'silent' });
    const options = { procedures, url: this.url, logger, connections: 6 };
    this.databases = await Promise.all(
      Array.from({ length: NODES }, () => openPostgresDatabase(options)),
    );
    this.nodes = this.databases.map(({ store }) => store);
    await this.store.createAccount({
      user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: NOW_MS },
      token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
      nowMs: NOW_MS,
    });
    const seed = Number(process.env.RACE_SEED ?? Date.now() % 2 ** 31);
    console.log(`races: RACE_SEED=${seed}`);
    this.random = seededRandom(seed);
  }

  /** Stops everything. @throws Error when PostgreSQL had to resolve a deadlock */
  async close(): Promise<void> {
    await Promise.all(this.closing.map((close) => close()));
    await Promise.all(this.databases.map((database) => database.close()));
    const deadlocks = await deadlocksOf(this.server?.url ?? '');
    await this.server?.stop();
    // Calls are retried after a deadlock (N-19), but a consistent lock order causes none.
    if (deadlocks !== 0) throw new Error(`${deadlocks} deadlocks`);
  }

  /** Opens a separate connection, to inspect the database or to hold locks as a stalled process does. */
  async openClient(): Promise<Client> {
    const client = new Client({ connectionString: this.url });
    this.closing.push(() => client.end());
    await client.connect();
    return client;
  }

  /** Opens a separate session, in which a test runs parts of a transaction. */
  async openSession(): Promise<PostgresSession> {
    const session = await openSession({ url: this.url, connectTimeoutMs: 1_000 });
    this.closing.push(() => session.end());
    return session;
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, at: this.random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  }

  /** Runs a call on all nodes concurrently, up to 3 ms apart. @returns each result, or its error */
  onAll<T>(call: (node: Store, index: number) => Promise<T>): Promise<(T | Error)[]> {
    return Promise.all(
      this.nodes.map(async (node, index) => {
        await Bun.sleep(this.random() * 3);
        return call(node, index).catch((error: Error) => error);
      }),
    );
  }

  async newStream(): Promise<string> {
    const id = crypto.randomUUID();
    await this.store.createStream({ id, producer: PRODUCER, stream: STREAM, nowMs: NOW_MS });
    return id;
  }

  /** Creates a quiz draft. @returns its id and its owner */
  async newDraft(streamId: string, quiz: Partial<NewQuiz> = {}) {
    const draft = { id: crypto.randomUUID(), producer: PRODUCER };
    await this.store.createQuiz({ ...draft, streamId, quiz: { ...QUIZ, ...quiz } });
    return draft;
  }

  async newQuiz(streamId: string, nowMs = NOW_MS): Promise<PublishedQuiz> {
    const draft = await this.newDraft(streamId);
    return (await this.store.publishQuiz({ ...draft, nowMs })) as PublishedQuiz;
  }

  /** Seals up to an interval, concurrently with other nodes. @returns the bodies of this sealing */
  async sealTo(interval: number, node = this.store): Promise<readonly SealedBody[]> {
    const after = await node.readWatermark({});
    if (after >= interval) return [];
    const nowMs = intervalStartMs(interval + 1);
    const sealed = await node.sealInterval({ after, interval, nowMs, transients: [] });
    return sealed.outcome === 'sealed' ? sealed.bodies : [];
  }

  /** Seals an interval whose predecessor is sealed. */
  sealNext(interval: number, node = this.store): Promise<SealOutcome> {
    const nowMs = intervalStartMs(interval + 1);
    return node.sealInterval({ after: interval - 1, interval, nowMs, transients: [] });
  }

  /** The events of a stream in the sealed feed, in order. */
  async readSealedEvents(streamId: string) {
    const { bodies } = await this.store.readSealedOfAll({
      from: 0,
      to: await this.store.readWatermark({}),
    });
    return bodies
      .filter((body) => body.streamId === streamId)
      .flatMap(({ body }): { type: string; data: Record<string, unknown> | null }[] => {
        return JSON.parse(body).events;
      });
  }
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

export const QUIZ = {
  question: 'Which?',
  choices: ['a', 'b', 'c'],
  answer: 'a',
  duration: 1_000,
  reveal: 'auto' as const,
};

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
