import type { Tx } from '../../storage/sql/procedure.ts';
import { NO_REHEARSAL } from '../rehearsals/hidden.ts';
import { MINUTE_INTERVALS, type WebhookEvent } from './webhook-events.ts';

/** What a sealing has for webhooks. */
export interface SealedNews {
  /** The last interval that it seals. */
  readonly interval: number;
  readonly nowMs: number;
  readonly happenings: readonly WebhookEvent[];
  /** Streams on air whose audience is told by the minute, when the sealing has counts. */
  readonly onAir: readonly string[];
  /** Viewers of streams in this sealing; of all others there are none. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Notes something for the webhooks that want to be told, in the transaction of the producer's call
 * that makes it so: both are recorded or neither is.
 */
export async function note(tx: Tx, happening: WebhookEvent, nowMs: number): Promise<void> {
  await insert(tx, await wanted(tx, [happening]), nowMs);
}

/**
 * The part of sealing that webhooks need. Where nobody wants to be told it writes nothing, and looks
 * only when something happened. What goes wrong with its writing is undone, and the sealing goes on.
 * @returns what went wrong, or null
 */
export async function noteSealed(tx: Tx, news: SealedNews): Promise<string | null> {
  const happenings = await wanted(tx, news.happenings);
  if (happenings.length === 0 && news.onAir.length === 0) return null;
  await tx.query('savepoint webhooks');
  try {
    await insert(tx, happenings, news.nowMs);
    await countOn(tx, news);
    await tx.query('release savepoint webhooks');
    return null;
  } catch (error) {
    // A connection that is lost fails here as well, and takes the sealing with it.
    await tx.query('rollback to savepoint webhooks');
    await tx.query('release savepoint webhooks');
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Those of which a webhook wants to be told; one look at an index, and none when nothing happened.
 * Nobody is told of a rehearsal.
 */
async function wanted(tx: Tx, happenings: readonly WebhookEvent[]): Promise<WebhookEvent[]> {
  if (happenings.length === 0) return [];
  const rows = await tx.query<{ place: number }>(
    `select happened.place as place
     from ${tx.rows('$1', ['place integer', 'type text', 'stream_id text'])} happened
     join streams s on s.id = happened.stream_id and s.${NO_REHEARSAL}
     where exists (select 1 from subscriptions w
       where w.type = happened.type and w.account = s.producer)`,
    [JSON.stringify(happenings.map(({ type, streamId }, place) => [place, type, streamId]))],
  );
  return rows.map(({ place }) => happenings[Number(place)] as WebhookEvent);
}

const COLUMNS = ['type text', 'key text', 'stream_id text', 'data text'];

async function insert(tx: Tx, happenings: readonly WebhookEvent[], atMs: number): Promise<void> {
  if (happenings.length === 0) return;
  const rows = happenings.map(({ type, key, streamId, data }) => {
    return [type, key, streamId, JSON.stringify(data)];
  });
  await tx.query(
    `insert into happenings (at, type, key, stream_id, data)
     select $2, type, key, stream_id, data from ${tx.rows('$1', COLUMNS)} noted`,
    [JSON.stringify(rows), atMs],
  );
}

/** Counts on the minute of the interval (H-7). */
async function countOn(tx: Tx, { interval, onAir, counts }: SealedNews): Promise<void> {
  if (onAir.length === 0) return;
  await tx.query(
    `insert into audience_minutes (minute, stream_id, count, peak)
     select $2, stream_id, viewers, viewers
     from ${tx.rows('$1', ['stream_id text', 'viewers integer'])} counted where true
     on conflict (minute, stream_id) do update set count = excluded.count,
       peak = case when audience_minutes.peak > excluded.peak then audience_minutes.peak
         else excluded.peak end`,
    [
      JSON.stringify(onAir.map((id) => [id, counts.get(id) ?? 0])),
      Math.floor(interval / MINUTE_INTERVALS),
    ],
  );
}
