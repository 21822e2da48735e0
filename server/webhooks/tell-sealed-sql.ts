import { INTERVAL_MS } from '../../protocol/interval.ts';
import type { Tx } from '../sql/procedure.ts';
import type { Happening } from './happenings.ts';
import { enqueue, wantedOf } from './tell-sql.ts';

/** What a sealing has for webhooks. */
export interface SealedNews {
  /** The sealing is of the intervals after this one … */
  readonly after: number;
  /** … up to this one. */
  readonly interval: number;
  readonly nowMs: number;
  readonly happenings: readonly Happening[];
  /** Streams on air whose audience is told by the minute, when the sealing has counts. */
  readonly onAir: readonly string[];
  /** Viewers of streams in this sealing; of all others there are none. */
  readonly counts: ReadonlyMap<string, number>;
}

const MINUTE_MS = 60_000;
const MINUTE_INTERVALS = MINUTE_MS / INTERVAL_MS;

/**
 * The part of sealing that webhooks need. Where nobody wants to be told it writes nothing, and looks
 * only when something happened. What goes wrong with its writing is undone, and the sealing goes on.
 * @returns what went wrong, or null
 */
export async function tellSealed(tx: Tx, news: SealedNews): Promise<string | null> {
  const wanted = await wantedOf(tx, news.happenings);
  if (wanted.length === 0 && news.onAir.length === 0) return null;
  await tx.query('savepoint webhooks');
  try {
    const minutes = await wantedOf(tx, await fullMinutes(tx, news));
    await enqueue(tx, [...wanted, ...minutes], news.nowMs);
    await tx.query('release savepoint webhooks');
    return null;
  } catch (error) {
    // A connection that is lost fails here as well, and takes the sealing with it.
    await tx.query('rollback to savepoint webhooks');
    await tx.query('release savepoint webhooks');
    return error instanceof Error ? error.message : String(error);
  }
}

/** Counts on, and gives the minutes that are full with it (H-7). */
async function fullMinutes(tx: Tx, { after, interval, onAir, counts }: SealedNews) {
  if (onAir.length === 0) return [];
  const minute = Math.floor(interval / MINUTE_INTERVALS);
  const minuteBefore = Math.floor(after / MINUTE_INTERVALS);
  const full: Happening[] = [];
  // A sealing that came late: the minute that it was late in is told with what was counted of it.
  if (after >= 0 && minuteBefore < minute && isInside(after)) {
    full.push(...(await minutesOf(tx, onAir, minuteBefore)));
  }
  await count(tx, onAir, counts, minute);
  if (!isInside(interval)) full.push(...(await minutesOf(tx, onAir, minute)));
  return full;
}

/** Whether more intervals of its minute come after this one. */
const isInside = (interval: number): boolean => (interval + 1) % MINUTE_INTERVALS !== 0;

async function count(
  tx: Tx,
  onAir: readonly string[],
  counts: ReadonlyMap<string, number>,
  minute: number,
): Promise<void> {
  await tx.query(
    `insert into audience_minutes (stream_id, minute, count, peak)
     select stream_id, $2, viewers, viewers
     from ${tx.rows('$1', ['stream_id text', 'viewers integer'])} counted where true
     on conflict (stream_id) do update set
       peak = case when audience_minutes.minute = excluded.minute
         and audience_minutes.peak > excluded.peak then audience_minutes.peak
         else excluded.peak end,
       minute = excluded.minute, count = excluded.count`,
    [JSON.stringify(onAir.map((id) => [id, counts.get(id) ?? 0])), minute],
  );
}

async function minutesOf(tx: Tx, onAir: readonly string[], minute: number): Promise<Happening[]> {
  const rows = await tx.query<{ streamId: string; count: number; peak: number }>(
    `select stream_id as "streamId", count, peak from audience_minutes
     where stream_id in (select stream_id from ${tx.rows('$1', ['stream_id text'])} on_air)
     and minute = $2`,
    [JSON.stringify(onAir.map((id) => [id])), minute],
  );
  const startMs = minute * MINUTE_MS;
  return rows.map(({ streamId, count, peak }) => ({
    type: 'audience.minute',
    streamId,
    key: `${streamId} ${minute}`,
    data: { streamId, minute: startMs, count, peak },
  }));
}
