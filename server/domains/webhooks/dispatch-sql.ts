import { countRows } from '../../storage/sql/counters.ts';
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
  /** Epoch of the webhook when its subscription was read: it may be disabled before the commit. */
  readonly epoch: number;
  readonly event: LoggedEvent;
}

export interface Dispatch {
  /** Whether more may be waiting. */
  readonly hasMore: boolean;
  /** The account that had the last turn. */
  readonly after: string;
}

/** Events of each kind dispatched in one transaction: with 20 webhooks an account, 1,000 deliveries. */
const DISPATCH_BATCH_SIZE = 50;
/**
 * Bytes of data in the deliveries of one transaction, unless those of its first event have more. 19 MB, from 50
 * quizzes with long texts and 20 webhooks, took 0.7 s of the writer of SQLite, and 1.5 s with PostgreSQL: more
 * than a call may take, so that the same events were tried without end.
 */
const DISPATCH_BYTES_MAX = 1_000_000;
/** Logged events of one account, each with at most 19 KB. */
const LOGGED_MAX = 10_000;
/** Events that one transaction removes from a log that is too long. */
const TRIM_BATCH_SIZE = 100;
/** Accounts that one transaction searches for such logs. */
const TRIM_ACCOUNTS = 4;
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
   * Turns logged events and finished audience minutes into one delivery per subscribed webhook, the oldest of
   * each account first: at most `DISPATCH_BATCH_SIZE` of each and `DISPATCH_BYTES_MAX`. Accounts take turns with
   * their logged events, so that a long log of one delays no other. Skips rows locked elsewhere.
   * @param input.after the `after` of the call before, '' at first
   */
  dispatchWebhookEvents: writeProcedure(
    async (tx, { after }: { after: string }): Promise<Dispatch> => {
      const minutes = await oldestMinutes(tx);
      const { logged, turns, isComplete } = await loggedByTurns(tx, after);
      // Minutes are small, so they always leave room for long events.
      const waiting = [...minutes, ...logged];
      const deliveries = await deliveriesOf(tx, waiting);
      const events = waiting.slice(0, batchLength(waiting, deliveries, minutes.length));
      await removeFromLog(tx, events);
      await insertDeliveries(tx, deliveries.slice(0, events.length).flat());
      const hasMinutes = minutes.length === DISPATCH_BATCH_SIZE;
      return {
        hasMore: hasMinutes || !isComplete || events.length < waiting.length,
        after: turns.slice(0, events.length - minutes.length).at(-1) ?? after,
      };
    },
  ),

  /**
   * Removes the oldest logged events of accounts with more than `LOGGED_MAX`, so that a log that is not dispatched
   * for long has a bound. Searches a few accounts, in the order of their ids.
   * @param input.after the `after` of the call before, '' at first
   * @returns the number removed; `after`: null when all accounts were searched
   */
  trimEventLog: writeProcedure(
    async (
      tx,
      { after }: { after: string },
    ): Promise<{ removed: number; after: string | null }> => {
      const accounts = await loggedAccounts(tx, after, TRIM_ACCOUNTS);
      for (const account of accounts) {
        const removed = await removeExcess(tx, account);
        if (removed > 0) return { removed, after };
      }
      return {
        removed: 0,
        after: accounts.length === TRIM_ACCOUNTS ? (accounts.at(-1) ?? null) : null,
      };
    },
  ),
};

/** The accounts with logged events after one in the order of their ids, by steps in the index. */
async function loggedAccounts(tx: Tx, after: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ account: string }>(
    `with recursive logged(account) as (
       select min(account) from happenings where account > $1
       union all
       select (select min(account) from happenings where account > logged.account)
       from logged where logged.account is not null)
     select account from logged where account is not null limit $2`,
    [after, limit],
  );
  return rows.map(({ account }) => account);
}

/**
 * The next logged events: the oldest of each account, then the second of each, and so on.
 * @param after the account that had the last turn
 * @returns `turns`: the accounts of the first events, each once; `isComplete`: no other events are logged
 */
async function loggedByTurns(tx: Tx, after: string) {
  const limit = DISPATCH_BATCH_SIZE;
  const next = await loggedAccounts(tx, after, limit);
  const first = next.length < limit && after !== '' ? await loggedAccounts(tx, '', limit) : [];
  const accounts = [...new Set([...next, ...first])].slice(0, DISPATCH_BATCH_SIZE);
  const eventsMax = Math.ceil(DISPATCH_BATCH_SIZE / accounts.length);
  const turns: string[] = [];
  let isComplete = accounts.length < DISPATCH_BATCH_SIZE;
  const placed: { event: LoggedEvent; turn: number }[] = [];
  for (const account of accounts) {
    const events = await oldestEvents(tx, account, eventsMax, tx.locks.claim);
    if (events.length > 0) turns.push(account);
    if (events.length === eventsMax) isComplete = false;
    placed.push(...events.map((event, turn) => ({ event, turn })));
  }
  const logged = placed.toSorted((a, b) => a.turn - b.turn).map(({ event }) => event);
  return { logged: logged.slice(0, DISPATCH_BATCH_SIZE), turns, isComplete };
}

/**
 * The range and the order keep PostgreSQL from the primary key, in which the events of one account may follow
 * 100,000 of another. Until its statistics know of the events, it may sort up to 20,000 of an account: 10 ms.
 */
async function oldestEvents(
  tx: Tx,
  account: string,
  limit: number,
  lock: string,
): Promise<readonly LoggedEvent[]> {
  return tx.query<LoggedEvent>(
    `select at as "atMs", type, key, stream_id as "streamId", data from happenings
     where account >= $1 and account <= $1 order by account, at, type, key limit $2 ${lock}`,
    [account, limit],
  );
}

/** @returns how many of the oldest events of an account were removed, of those that exceed `LOGGED_MAX` */
async function removeExcess(tx: Tx, account: string): Promise<number> {
  const excess = (await countLogged(tx, account)) - LOGGED_MAX;
  if (excess <= 0) return 0;
  const oldest = await oldestEvents(tx, account, excess, tx.locks.exclusive);
  // Another node may have removed events while this waited for their locks; PostgreSQL then locks newer ones instead.
  const stillExcess = (await countLogged(tx, account)) - LOGGED_MAX;
  const removed = oldest.slice(0, Math.max(0, stillExcess));
  if (removed.length > 0) await removeFromLog(tx, removed);
  return removed.length;
}

/** Counts no further than a trim needs: 190,000 take PostgreSQL longer than a call may. */
const countLogged = (tx: Tx, account: string) =>
  countRows(
    tx,
    '(select 1 from happenings where account >= $1 and account <= $1 limit $2) counted',
    [account, LOGGED_MAX + TRIM_BATCH_SIZE],
  );

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

/** How many of the events are dispatched now; at least the minutes and the first logged event. */
function batchLength(
  events: readonly LoggedEvent[],
  deliveries: readonly (readonly NewDelivery[])[],
  minutes: number,
): number {
  let bytes = 0;
  const end = events.findIndex(({ data }, index) => {
    bytes += Buffer.byteLength(data) * (deliveries[index]?.length ?? 0);
    return index > minutes && bytes > DISPATCH_BYTES_MAX;
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
