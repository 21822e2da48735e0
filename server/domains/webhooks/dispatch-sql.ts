import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import {
  bodyOf,
  deliveryIdOf,
  MINUTE_INTERVALS,
  MINUTE_MS,
  type WebhookEvent,
} from './webhook-events.ts';

/** What happened, as it waits to be told. */
interface Noted extends Pick<WebhookEvent, 'type' | 'key' | 'streamId'> {
  readonly atMs: number;
  /** JSON. */
  readonly data: string;
}

/** At once, so that no commit waits for long: at most a thousand deliveries. */
const TOLD_AT_ONCE = 50;
/** Minutes that are over: every interval of them is sealed. */
const IS_OVER = `minute < ((select interval from watermark) + 1) / ${MINUTE_INTERVALS}`;

export const tellingProcedures = {
  /** Whether something is to be told, and something to be sent: looks at the beginning of indexes. */
  findWebhookWork: reading(
    async (tx, { nowMs }: { nowMs: number }): Promise<{ untold: boolean; due: boolean }> => {
      const [row] = await tx.query<{ untold: number; due: number }>(
        `select case when exists (select 1 from happenings)
             or exists (select 1 from audience_minutes where ${IS_OVER}) then 1 else 0 end as untold,
           case when exists (select 1 from deliveries where due <= $1) then 1 else 0 end as due`,
        [nowMs],
      );
      return { untold: Boolean(row?.untold), due: Boolean(row?.due) };
    },
  ),

  /**
   * Puts what happened before the webhooks that want it, the oldest first, and minutes that are over;
   * a bounded number at once. What another node is at work on is left to it.
   * @returns whether there may be more
   */
  tellWebhooks: writing(async (tx): Promise<boolean> => {
    const happenings = await takeHappenings(tx);
    const minutes = await takeMinutes(tx);
    await enqueue(tx, [...happenings, ...minutes]);
    return happenings.length === TOLD_AT_ONCE || minutes.length === TOLD_AT_ONCE;
  }),
};

async function takeHappenings(tx: Tx): Promise<Noted[]> {
  const rows = await tx.query<{
    at: number;
    type: WebhookEvent['type'];
    key: string;
    streamId: string;
    data: string;
  }>(
    `select at, type, key, stream_id as "streamId", data from happenings
     order by at, type, key limit $1 ${tx.locks.claim}`,
    [TOLD_AT_ONCE],
  );
  if (rows.length === 0) return [];
  await tx.query(
    `delete from happenings where (at, type, key) in
     (select at, type, key from ${tx.rows('$1', ['at bigint', 'type text', 'key text'])} taken)`,
    [JSON.stringify(rows.map(({ at, type, key }) => [at, type, key]))],
  );
  return rows.map(({ at, ...row }) => ({ ...row, atMs: at }));
}

async function takeMinutes(tx: Tx): Promise<Noted[]> {
  const rows = await tx.query<{ minute: number; streamId: string; count: number; peak: number }>(
    `select minute, stream_id as "streamId", count, peak from audience_minutes
     where ${IS_OVER} order by minute, stream_id limit $1 ${tx.locks.claim}`,
    [TOLD_AT_ONCE],
  );
  if (rows.length === 0) return [];
  await tx.query(
    `delete from audience_minutes where (minute, stream_id) in
     (select minute, stream_id from ${tx.rows('$1', ['minute bigint', 'stream_id text'])} taken)`,
    [JSON.stringify(rows.map(({ minute, streamId }) => [minute, streamId]))],
  );
  return rows.map(({ minute, streamId, count, peak }) => ({
    type: 'audience.minute',
    key: `${streamId} ${minute}`,
    streamId,
    atMs: (minute + 1) * MINUTE_MS,
    data: JSON.stringify({ streamId, minute: minute * MINUTE_MS, count, peak }),
  }));
}

const COLUMNS = ['id text', 'webhook text', 'type text', 'body text', 'at bigint'];

/** Due at once, in the order in which it happened. */
async function enqueue(tx: Tx, noted: readonly Noted[]): Promise<void> {
  if (noted.length === 0) return;
  const wanted = await tx.query<{ place: number; webhook: string }>(
    `select noted.place as place, w.webhook as webhook
     from ${tx.rows('$1', ['place integer', 'type text', 'stream_id text'])} noted
     join streams s on s.id = noted.stream_id
     join subscriptions w on w.type = noted.type and w.account = s.producer`,
    [JSON.stringify(noted.map(({ type, streamId }, place) => [place, type, streamId]))],
  );
  if (wanted.length === 0) return;
  const deliveries = wanted.map(({ place, webhook }) => {
    const one = noted[Number(place)] as Noted;
    const { type, atMs, data } = one;
    return [deliveryIdOf(webhook, one), webhook, type, bodyOf(type, atMs, data), atMs];
  });
  await tx.query(
    `insert into deliveries (id, webhook, type, body, created, state, due)
     select id, webhook, type, body, at, 'pending', at from ${tx.rows('$1', COLUMNS)} told
     where true on conflict (id) do nothing`,
    [JSON.stringify(deliveries)],
  );
}
