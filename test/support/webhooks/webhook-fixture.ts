import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { Delivery, WebhookEvent } from '../../../protocol/webhooks.ts';
import { procedures, type TheRecord } from '../../../server/app/procedures.ts';
import type { Sealing } from '../../../server/realtime/feed/sealing-sql.ts';
import { openDirectRecord } from '../../../server/storage/sql/database-direct.ts';
import { openPostgresRecord } from '../../../server/storage/sql/database-postgres.ts';
import { type Rows, type SqlValue, writing } from '../../../server/storage/sql/procedure.ts';

/** The procedures, and any statement besides. */
const withStatements = {
  ...procedures,
  run: writing(
    (tx, { text, params = [] }: { text: string; params?: SqlValue[] }): Promise<Rows<SqlRow>> =>
      tx.query<SqlRow>(text, params),
  ),
};

type SqlRow = Record<string, SqlValue>;

/** A record on which webhooks can be tried; nobody else seals there. */
export interface WebhookRecord {
  /** Two that work on one record; the same one where there is only one. */
  readonly nodes: readonly [TheRecord, TheRecord];
  /** Runs a statement in a transaction of its own. */
  run(text: string, params?: SqlValue[]): Promise<Rows<SqlRow>>;
  close(): Promise<void>;
}

export async function openInSqlite(): Promise<WebhookRecord> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-webhooks-'));
  const { calls, close } = await openDirectRecord(withStatements, directory);
  return {
    nodes: [calls, calls],
    run: (text, params) => calls.run({ text, ...(params && { params }) }),
    close: async () => {
      await close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function openInPostgres(url: string): Promise<WebhookRecord> {
  const logger = pino({ level: 'silent' });
  const open = () => openPostgresRecord({ procedures: withStatements, url, logger });
  const [one, two] = [await open(), await open()];
  return {
    nodes: [one.calls, two.calls],
    run: (text, params) => one.calls.run({ text, ...(params && { params }) }),
    close: async () => {
      await Promise.all([one.close(), two.close()]);
    },
  };
}

export const PRODUCER = '11111111-1111-4111-8111-111111111111';
const STREAM = { title: 'A show', dash_url: null, hls_url: null, unlisted: false };
/** The start of a minute. */
const START_MS = 29_166_667 * 60_000;
const SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';

/** A producer with streams and webhooks, and the time that passes. */
export class WebhookGround {
  nowMs = START_MS;
  private webhooks = 0;

  private constructor(private readonly on: WebhookRecord) {}

  static async on(record: WebhookRecord): Promise<WebhookGround> {
    const ground = new WebhookGround(record);
    await ground.record.createAccount({
      user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: START_MS },
      token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
      nowMs: START_MS,
    });
    await ground.sealTo(intervalAt(START_MS) - 1);
    return ground;
  }

  get record(): TheRecord {
    return this.on.nodes[0];
  }
  get nodes(): readonly [TheRecord, TheRecord] {
    return this.on.nodes;
  }
  run(text: string, params?: SqlValue[]): Promise<Rows<SqlRow>> {
    return this.on.run(text, params);
  }
  close(): Promise<void> {
    return this.on.close();
  }

  async newStream(): Promise<string> {
    const id = crypto.randomUUID();
    const stream = { ...STREAM, latencyAllowance: 0, recording: false };
    await this.record.createStream({ id, producer: PRODUCER, stream, nowMs: this.nowMs });
    return id;
  }

  async newWebhook(...events: WebhookEvent[]): Promise<string> {
    const id = crypto.randomUUID();
    const url = `https://hooks.example.org/${++this.webhooks}`;
    const webhook = { url, events, enabled: true };
    const { nowMs } = this;
    await this.record.createWebhook({ id, account: PRODUCER, webhook, secret: SECRET, nowMs });
    return id;
  }

  /** Seals up to an interval at once. @param viewers of each stream */
  async sealTo(interval: number, viewers: Readonly<Record<string, number>> = {}) {
    const after = await this.record.readWatermark({});
    const transients: Sealing['transients'] = Object.entries(viewers).map(([streamId, value]) => {
      return { streamId, viewCount: { value, formatted: String(value) }, chats: null };
    });
    this.nowMs = Math.max(this.nowMs, intervalStartMs(interval + 1));
    return this.record.sealInterval({ after, interval, nowMs: this.nowMs, transients });
  }

  /** Seals the next so many intervals, one by one. */
  async seal(intervals: number, viewers: Readonly<Record<string, number>> = {}): Promise<void> {
    for (let n = 0; n < intervals; n++) {
      await this.sealTo((await this.record.readWatermark({})) + 1, viewers);
    }
  }

  /** What a webhook was told or waits to be told, oldest first. */
  async told(id: string): Promise<(Omit<Delivery, 'body'> & { body: Told })[]> {
    while (await this.record.tellWebhooks({}));
    const page = { id, account: PRODUCER, before: null, limit: 100 };
    const { results } = await this.record.listDeliveries(page);
    return results.toReversed().map((one) => ({ ...one, body: JSON.parse(one.body) }));
  }
}

interface Told {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}
