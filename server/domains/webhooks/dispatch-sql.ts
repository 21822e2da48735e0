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

interface NewDelivery {
  readonly webhook: string;
  /** That of the webhook. Read with the subscription: the webhook may be disabled before the commit. */
  readonly epoch: number;
  readonly event: LoggedEvent;
}

/** Events of each kind dispatched in one transaction: with 20 webhooks an account, 1,000 deliveries. */
const DISPATCH_BATCH_SIZE = 50;
/**
 * Bytes of data in the deliveries of one transaction, unless those of its first event have more. 19 MB, from 50
 * quizzes with long texts and 20 webhooks, took 0.7 s of the writer of SQLite, and 1.5 s with PostgreSQL: more
 * than a call may take, so that the same events were tried without end.
 */
const DISPATCH_BYTES_MAX = 1_000_000;
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
   * Turns logged events and finished audience minutes into one delivery per subscribed webhook, the oldest
   * first: at most `DISPATCH_BATCH_SIZE` of each and `DISPATCH_BYTES_MAX`. Skips rows locked elsewhere.
   * @returns whether more may be waiting
   */
  dispatchWebhookEvents: writeProcedure(async (tx): Promise<boolean> => {
    const logged = await oldestEvents(tx);
    const minutes = await oldestMinutes(tx);
    const waiting = [...logged, ...minutes].toSorted((a, b) => a.atMs - b.atMs);
    const deliveries = await deliveriesOf(tx, waiting);
    const events = waiting.slice(0, batchLength(waiting, deliveries));
    await removeFromLog(tx, events);
    await insertDeliveries(tx, deliveries.slice(0, events.length).flat());
    const isFull = Math.max(logged.length, minutes.length) === DISPATCH_BATCH_SIZE;
    return isFull || events.length < waiting.length;
  }),
};

async function oldestEvents(tx: Tx): Promise<readonly LoggedEvent[]> {
  return tx.query<LoggedEvent>(
    `select at as "atMs", type, key, stream_id as "streamId", data from happenings
     order by at, type, key limit $1 ${tx.locks.claim}`,
    [DISPATCH_BATCH_SIZE],
  );
}

async function oldestMinutes(tx: Tx): Promise<readonly LoggedEvent[]> {
  const rows = await tx.query<{ minute: number; streamId: string; count: number; peak: number }>(
    `select minute, stream_id as "streamId", count, peak from audience_minutes
     where ${MINUTE_IS_OVER} order by minute, stream_id limit $1 ${tx.locks.claim}`,
    [DISPATCH_BATCH_SIZE],
  );
  return rows.map(({ minute, streamId, count, peak }) => ({
    type: 'audience.minute',
    key: `${streamId} ${minute}`,
    streamId,
    atMs: (minute + 1) * MINUTE_MS,
    data: JSON.stringify({ streamId, minute: minute * MINUTE_MS, count, peak }),
  }));
}

/** For each event, its deliveries: one for each subscribed webhook. */
async function deliveriesOf(tx: Tx, events: readonly LoggedEvent[]): Promise<NewDelivery[][]> {
  if (events.length === 0) return [];
  const subscribed = await tx.query<{ index: number; webhook: string; epoch: number }>(
    `select e.position as "index", w.webhook as webhook, h.epoch as epoch
     from ${tx.rows('$1', ['position integer', 'type text', 'stream_id text'])} e
     join streams s on s.id = e.stream_id
     join subscriptions w on w.type = e.type and w.account = s.producer
     join webhooks h on h.id = w.webhook`,
    [JSON.stringify(events.map(({ type, streamId }, index) => [index, type, streamId]))],
  );
  const byEvent = Map.groupBy(subscribed, ({ index }) => Number(index));
  return events.map((event, index) =>
    (byEvent.get(index) ?? []).map(({ webhook, epoch }) => ({ webhook, epoch, event })),
  );
}

/** How many of the events are dispatched now; at least the first. */
function batchLength(
  events: readonly LoggedEvent[],
  deliveries: readonly (readonly NewDelivery[])[],
): number {
  let bytes = 0;
  const end = events.findIndex(({ data }, index) => {
    bytes += Buffer.byteLength(data) * (deliveries[index]?.length ?? 0);
    return index > 0 && bytes > DISPATCH_BYTES_MAX;
  });
  return end === -1 ? events.length : end;
}

async function removeFromLog(tx: Tx, events: readonly LoggedEvent[]): Promise<void> {
  const isMinute = ({ type }: LoggedEvent) => type === 'audience.minute';
  const logged = events.filter((event) => !isMinute(event));
  const minutes = events.filter(isMinute);
  if (logged.length > 0) {
    await tx.query(
      `delete from happenings where (at, type, key) in
       (select at, type, key from ${tx.rows('$1', ['at bigint', 'type text', 'key text'])} taken)`,
      [JSON.stringify(logged.map(({ atMs, type, key }) => [atMs, type, key]))],
    );
  }
  if (minutes.length > 0) {
    await tx.query(
      `delete from audience_minutes where (minute, stream_id) in
       (select minute, stream_id from ${tx.rows('$1', ['minute bigint', 'stream_id text'])} taken)`,
      [JSON.stringify(minutes.map(({ atMs, streamId }) => [atMs / MINUTE_MS - 1, streamId]))],
    );
  }
}

const COLUMNS = ['id text', 'webhook text', 'epoch integer', 'type text', 'body text', 'at bigint'];

/** Each delivery is due at the time of its event. */
async function insertDeliveries(tx: Tx, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const rows = deliveries.map(({ webhook, epoch, event }) => {
    const { type, atMs, data } = event;
    const body = webhookBody(type, atMs, data);
    return [deliveryIdOf(webhook, event), webhook, epoch, type, body, atMs];
  });
  await tx.query(
    `insert into deliveries (id, webhook, epoch, type, body, created, state, due)
     select id, webhook, epoch, type, body, at, 'pending', at from ${tx.rows('$1', COLUMNS)} dispatched
     where true on conflict (id) do nothing`,
    [JSON.stringify(rows)],
  );
}
