import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import {
  deliveryIdOf,
  MINUTE_INTERVALS,
  MINUTE_MS,
  type WebhookEvent,
  webhookBody,
} from './webhook-events.ts';

/** An event in the log that is not dispatched yet. */
interface LoggedEvent extends Pick<WebhookEvent, 'type' | 'key' | 'streamId'> {
  readonly atMs: number;
  /** JSON. */
  readonly data: string;
}

/**
 * Events dispatched in one transaction. With 20 webhooks an account they become at most 1,000
 * deliveries, so that no other commit waits for long.
 */
const DISPATCH_BATCH_SIZE = 50;
/** SQL condition: every interval of the minute is sealed. */
const MINUTE_IS_OVER = `minute < ((select interval from watermark) + 1) / ${MINUTE_INTERVALS}`;

export const dispatchProcedures = {
  /** Whether events wait to be dispatched, and whether deliveries are due; a cheap poll. */
  findWebhookWork: readProcedure(
    async (tx, { nowMs }: { nowMs: number }): Promise<{ undispatched: boolean; due: boolean }> => {
      const [row] = await tx.query<{ untold: number; due: number }>(
        `select case when exists (select 1 from happenings)
             or exists (select 1 from audience_minutes where ${MINUTE_IS_OVER}) then 1 else 0 end as untold,
           case when exists (select 1 from deliveries where due <= $1) then 1 else 0 end as due`,
        [nowMs],
      );
      return { undispatched: Boolean(row?.untold), due: Boolean(row?.due) };
    },
  ),

  /**
   * Turns each logged event and each finished audience minute into one delivery per subscribed
   * webhook, the oldest first, at most `DISPATCH_BATCH_SIZE` of each. Skips rows locked elsewhere.
   * @returns whether more may be waiting
   */
  dispatchWebhookEvents: writeProcedure(async (tx): Promise<boolean> => {
    const events = await takeLoggedEvents(tx);
    const minutes = await takeAudienceMinutes(tx);
    await insertDeliveries(tx, [...events, ...minutes]);
    return events.length === DISPATCH_BATCH_SIZE || minutes.length === DISPATCH_BATCH_SIZE;
  }),
};

async function takeLoggedEvents(tx: Tx): Promise<LoggedEvent[]> {
  const rows = await tx.query<LoggedEvent>(
    `select at as "atMs", type, key, stream_id as "streamId", data from happenings
     order by at, type, key limit $1 ${tx.locks.claim}`,
    [DISPATCH_BATCH_SIZE],
  );
  if (rows.length === 0) return [];
  await tx.query(
    `delete from happenings where (at, type, key) in
     (select at, type, key from ${tx.rows('$1', ['at bigint', 'type text', 'key text'])} taken)`,
    [JSON.stringify(rows.map(({ atMs, type, key }) => [atMs, type, key]))],
  );
  return [...rows];
}

async function takeAudienceMinutes(tx: Tx): Promise<LoggedEvent[]> {
  const rows = await tx.query<{ minute: number; streamId: string; count: number; peak: number }>(
    `select minute, stream_id as "streamId", count, peak from audience_minutes
     where ${MINUTE_IS_OVER} order by minute, stream_id limit $1 ${tx.locks.claim}`,
    [DISPATCH_BATCH_SIZE],
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

/** Inserts a delivery for each event and subscribed webhook; it is due at the time of its event. */
async function insertDeliveries(tx: Tx, events: readonly LoggedEvent[]): Promise<void> {
  if (events.length === 0) return;
  const subscribed = await tx.query<{ index: number; webhook: string }>(
    `select e.position as "index", w.webhook as webhook
     from ${tx.rows('$1', ['position integer', 'type text', 'stream_id text'])} e
     join streams s on s.id = e.stream_id
     join subscriptions w on w.type = e.type and w.account = s.producer`,
    [JSON.stringify(events.map(({ type, streamId }, index) => [index, type, streamId]))],
  );
  if (subscribed.length === 0) return;
  const deliveries = subscribed.map(({ index, webhook }) => {
    const event = events[Number(index)] as LoggedEvent;
    const { type, atMs, data } = event;
    return [deliveryIdOf(webhook, event), webhook, type, webhookBody(type, atMs, data), atMs];
  });
  await tx.query(
    `insert into deliveries (id, webhook, type, body, created, state, due)
     select id, webhook, type, body, at, 'pending', at from ${tx.rows('$1', COLUMNS)} dispatched
     where true on conflict (id) do nothing`,
    [JSON.stringify(deliveries)],
  );
}
