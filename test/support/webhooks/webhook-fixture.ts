import { afterAll, beforeAll, describe } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { Delivery, WebhookEventType } from '../../../protocol/webhooks.ts';
import { procedures, type Store } from '../../../server/app/procedures.ts';
import type { Sealing } from '../../../server/realtime/feed/sealing-sql.ts';
import { openDirectDatabase } from '../../../server/storage/sql/database-direct.ts';
import { openPostgresDatabase } from '../../../server/storage/sql/database-postgres.ts';
import { type Rows, type SqlValue, writeProcedure } from '../../../server/storage/sql/procedure.ts';
import { type PostgresServer, startPostgres } from '../backends/postgres.ts';

/** The procedures of the service, and `run`, which executes any SQL statement. */
const proceduresAndRun = {
  ...procedures,
  run: writeProcedure(
    (tx, { text, params = [] }: { text: string; params?: SqlValue[] }): Promise<Rows<SqlRow>> =>
      tx.query<SqlRow>(text, params),
  ),
};

type SqlRow = Record<string, SqlValue>;

/** A database for webhook tests, without a sealer. */
export interface WebhookStore {
  /** Two nodes on one database; the same store twice with SQLite. */
  readonly nodes: readonly [Store, Store];
  /** Executes a statement in its own transaction. */
  run(text: string, params?: SqlValue[]): Promise<Rows<SqlRow>>;
  close(): Promise<void>;
}

export async function openInSqlite(): Promise<WebhookStore> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-webhooks-'));
  const { store, close } = await openDirectDatabase(proceduresAndRun, directory);
  return {
    nodes: [store, store],
    run: (text, params) => store.run({ text, ...(params && { params }) }),
    close: async () => {
      await close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function openInPostgres(url: string): Promise<WebhookStore> {
  const logger = pino({ level: 'silent' });
  const open = () => openPostgresDatabase({ procedures: proceduresAndRun, url, logger });
  const [one, two] = [await open(), await open()];
  return {
    nodes: [one.store, two.store],
    run: (text, params) => one.store.run({ text, ...(params && { params }) }),
    close: async () => {
      await Promise.all([one.close(), two.close()]);
    },
  };
}

/** Describes tests that run in SQLite and in PostgreSQL, on a server started for them. */
export function describeWebhooks(
  title: string,
  tests: (open: () => Promise<WebhookFixture>) => void,
): void {
  let postgres: PostgresServer;
  let databases = 0;
  beforeAll(async () => {
    postgres = await startPostgres({ fsync: false });
  }, 30_000);
  afterAll(() => postgres.stop());
  const openPostgres = async () =>
    openInPostgres(await postgres.createDatabase(`webhooks_${++databases}`));
  const kinds = [
    ['SQLite', openInSqlite],
    ['PostgreSQL', openPostgres],
  ] as const;
  describe.each(kinds)(`${title} in %s`, (_, open) => {
    tests(async () => WebhookFixture.on(await open()));
  });
}

export const PRODUCER = '11111111-1111-4111-8111-111111111111';
const STREAM = { title: 'A show', dash_url: null, hls_url: null, unlisted: false };
/** When each fixture starts: the start of a minute, Unix ms. */
const START_MS = 29_166_667 * 60_000;
const SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';

/** A producer with streams and webhooks, and a manual clock. */
export class WebhookFixture {
  nowMs = START_MS;
  private webhookCount = 0;

  private constructor(private readonly database: WebhookStore) {}

  static async on(store: WebhookStore): Promise<WebhookFixture> {
    const fixture = new WebhookFixture(store);
    await fixture.store.createAccount({
      user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: START_MS },
      token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
      nowMs: START_MS,
    });
    await fixture.sealTo(intervalAt(START_MS) - 1);
    return fixture;
  }

  get store(): Store {
    return this.database.nodes[0];
  }
  get nodes(): readonly [Store, Store] {
    return this.database.nodes;
  }
  run(text: string, params?: SqlValue[]): Promise<Rows<SqlRow>> {
    return this.database.run(text, params);
  }
  close(): Promise<void> {
    return this.database.close();
  }

  async newStream(): Promise<string> {
    const id = crypto.randomUUID();
    const stream = {
      ...STREAM,
      latencyAllowance: 0,
      recording: false,
      autoStart: true,
      keepOpen: false,
    };
    await this.store.createStream({ id, producer: PRODUCER, stream, nowMs: this.nowMs });
    return id;
  }

  /** Three new streams. */
  async newStreams(): Promise<[string, string, string]> {
    return [await this.newStream(), await this.newStream(), await this.newStream()];
  }

  async newWebhook(...events: WebhookEventType[]): Promise<string> {
    const id = crypto.randomUUID();
    const url = `https://hooks.example.org/${++this.webhookCount}`;
    const webhook = { url, events, enabled: true };
    const { nowMs } = this;
    await this.store.createWebhook({ id, account: PRODUCER, webhook, secret: SECRET, nowMs });
    return id;
  }

  /** Seals up to an interval in one transaction. @param viewers view counts by stream id */
  async sealTo(interval: number, viewers: Readonly<Record<string, number>> = {}) {
    const watermark = await this.store.readWatermark({});
    const transients: Sealing['transients'] = Object.entries(viewers).map(([streamId, value]) => {
      return { streamId, viewCount: { value, formatted: String(value) }, chats: null };
    });
    this.nowMs = Math.max(this.nowMs, intervalStartMs(interval + 1));
    return this.store.sealInterval({ after: watermark, interval, nowMs: this.nowMs, transients });
  }

  /** Seals the next `intervals` intervals, one by one. */
  async seal(intervals: number, viewers: Readonly<Record<string, number>> = {}): Promise<void> {
    for (let n = 0; n < intervals; n++) {
      await this.sealTo((await this.store.readWatermark({})) + 1, viewers);
    }
  }

  /** Dispatches all events. @returns the last 100 deliveries of a webhook, oldest first */
  async deliveries(id: string): Promise<(Omit<Delivery, 'body'> & { body: DeliveryBody })[]> {
    while ((await this.store.dispatchWebhookEvents({ after: '' })).hasMore);
    const page = { id, account: PRODUCER, before: null, limit: 100 };
    const { results } = await this.store.listDeliveries(page);
    return results
      .toReversed()
      .map((delivery) => ({ ...delivery, body: JSON.parse(delivery.body) }));
  }
}

interface DeliveryBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}
