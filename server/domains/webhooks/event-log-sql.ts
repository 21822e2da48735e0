import type { Tx } from '../../storage/sql/procedure.ts';
import { NO_REHEARSAL } from '../rehearsals/rehearsal-filter.ts';
import { MINUTE_INTERVALS, type WebhookEvent } from './webhook-events.ts';

export interface SealedEvents {
  /** The last interval that the transaction seals. */
  readonly interval: number;
  readonly nowMs: number;
  readonly events: readonly WebhookEvent[];
  /** Streams on air with a subscription to `audience.minute`; empty when there are no counts. */
  readonly onAir: readonly string[];
  /** Viewer counts by stream id; a missing stream has 0. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Logs an event for its subscribers in the transaction that causes it, so that either both or
 * neither are committed.
 */
export async function logWebhookEvent(tx: Tx, event: WebhookEvent, nowMs: number): Promise<void> {
  await insertEvents(tx, await withSubscribers(tx, [event]), nowMs);
}

/**
 * Logs the webhook events of a sealing in its transaction. Writes nothing without subscribers, and
 * queries nothing without events. A failed write is rolled back to a savepoint, so that it does not
 * stop sealing.
 * @returns the error message, or null on success
 */
export async function logSealedEvents(tx: Tx, sealed: SealedEvents): Promise<string | null> {
  const events = await withSubscribers(tx, sealed.events);
  if (events.length === 0 && sealed.onAir.length === 0) return null;
  await tx.query('savepoint webhooks');
  try {
    await insertEvents(tx, events, sealed.nowMs);
    await updateAudienceMinutes(tx, sealed);
    await tx.query('release savepoint webhooks');
    return null;
  } catch (error) {
    // After a lost connection these statements fail as well, and the sealing with them.
    await tx.query('rollback to savepoint webhooks');
    await tx.query('release savepoint webhooks');
    return error instanceof Error ? error.message : String(error);
  }
}

type OwnedEvent = WebhookEvent & { readonly account: string };

/** The events that a webhook subscribes to, with their accounts. Events of rehearsals are never delivered. */
async function withSubscribers(tx: Tx, events: readonly WebhookEvent[]): Promise<OwnedEvent[]> {
  if (events.length === 0) return [];
  const rows = await tx.query<{ index: number; account: string }>(
    `select e.position as "index", s.producer as account
     from ${tx.rows('$1', ['position integer', 'type text', 'stream_id text'])} e
     join streams s on s.id = e.stream_id and s.${NO_REHEARSAL}
     where exists (select 1 from subscriptions w
       where w.type = e.type and w.account = s.producer)`,
    [JSON.stringify(events.map(({ type, streamId }, index) => [index, type, streamId]))],
  );
  return rows.map(({ index, account }) => ({
    ...(events[Number(index)] as WebhookEvent),
    account,
  }));
}

const COLUMNS = ['account text', 'type text', 'key text', 'stream_id text', 'data text'];

async function insertEvents(tx: Tx, events: readonly OwnedEvent[], atMs: number): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ account, type, key, streamId, data }) => {
    return [account, type, key, streamId, JSON.stringify(data)];
  });
  await tx.query(
    `insert into happenings (at, account, type, key, stream_id, data)
     select $2, account, type, key, stream_id, data from ${tx.rows('$1', COLUMNS)} logged
     where true on conflict do nothing`,
    [JSON.stringify(rows), atMs],
  );
}

/**
 * Sets the count and raises the peak of the minute that the interval is in (H-7). It writes only counts that
 * changed: most streams of an account with thousands have no viewers.
 */
async function updateAudienceMinutes(
  tx: Tx,
  { interval, onAir, counts }: SealedEvents,
): Promise<void> {
  if (onAir.length === 0) return;
  const minute = Math.floor(interval / MINUTE_INTERVALS);
  const stored = await tx.query<{ streamId: string; count: number }>(
    'select stream_id as "streamId", count from audience_minutes where minute = $1',
    [minute],
  );
  const storedCounts = new Map(stored.map(({ streamId, count }) => [streamId, count]));
  const changed = onAir
    .map((id) => [id, counts.get(id) ?? 0] as const)
    .filter(([id, count]) => storedCounts.get(id) !== count);
  if (changed.length === 0) return;
  await tx.query(
    `insert into audience_minutes (minute, stream_id, count, peak)
     select $2, stream_id, viewers, viewers
     from ${tx.rows('$1', ['stream_id text', 'viewers integer'])} counted where true
     on conflict (minute, stream_id) do update set count = excluded.count,
       peak = case when audience_minutes.peak > excluded.peak then audience_minutes.peak
         else excluded.peak end`,
    [JSON.stringify(changed), minute],
  );
}
