import { REHEARSAL_LENGTH_MS } from '../../../protocol/limits.ts';
import type { ShowPage } from '../../../protocol/show-page.ts';
import { NO_SHOW_PAGE, showPageOf } from '../../../protocol/show-page-values.ts';
import type { NewStream, StreamPatch } from '../../../protocol/studio.ts';
import { lockAccount } from '../../auth/accounts/accounts-sql.ts';
import { forgetLostSource } from '../../media/ingest/ingest-sql.ts';
import { DomainError } from '../../platform/errors.ts';
import { countRows, nextNumber } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { NO_REHEARSAL } from '../rehearsals/rehearsal-filter.ts';
import { logWebhookEvent } from '../webhooks/event-log-sql.ts';
import type { WebhookEvent } from '../webhooks/webhook-events.ts';
import {
  archivedEndMs,
  endStream,
  reopenStream,
  type StreamState,
  startStream,
} from './stream-rules.ts';

/** A row of `streams`. */
export interface StreamRow extends StreamState {
  readonly id: string;
  readonly producer: string;
  readonly title: string;
  readonly dashUrl: string | null;
  readonly hlsUrl: string | null;
  readonly unlisted: boolean;
  readonly latencyAllowanceMs: number;
  /** Whether its whole video is stored, while there is room. */
  readonly recording: boolean;
  /** Whether a source starts it; otherwise its source is a preview until the start. */
  readonly autoStart: boolean;
  /** Whether it stays live when its source does not return. */
  readonly keepOpen: boolean;
  readonly showPage: ShowPage;
  readonly created: number;
  /** Incremented when its quizzes are added, edited, moved, deleted or published. */
  readonly rundownRevision: number;
  /** Counts changes of the products. */
  readonly productsRevision: number;
  /** The stream that this one rehearses; such a stream is hidden from lists. Null: not a rehearsal. */
  readonly rehearsalOf: string | null;
}

const COLUMNS = `id, producer, title, dash_url as "dashUrl", hls_url as "hlsUrl", unlisted,
  latency_allowance_ms as "latencyAllowanceMs", recording, auto_start as "autoStart",
  keep_open as "keepOpen", show_page as "showPage", status, created, started, ended,
  ends_at as "endsAt", reopened, sealed_until as "sealedUntil", rundown_revision as "rundownRevision",
  products_revision as "productsRevision", rehearsal_of as "rehearsalOf"`;

/** As the database returns it. */
type StoredStreamRow = Omit<StreamRow, 'showPage'> & { readonly showPage: string | null };

const fromRow = (row: StoredStreamRow): StreamRow => ({
  ...row,
  unlisted: Boolean(row.unlisted),
  recording: Boolean(row.recording),
  autoStart: Boolean(row.autoStart),
  keepOpen: Boolean(row.keepOpen),
  showPage: row.showPage === null ? NO_SHOW_PAGE : JSON.parse(row.showPage),
});

/** The text of `show_page`; null: a page with a title only. */
function storedShowPage(
  fields: {
    readonly [Name in keyof ShowPage]?: ShowPage[Name] | undefined;
  },
): string | null {
  const page = showPageOf({ ...NO_SHOW_PAGE, ...fields } as ShowPage);
  return Object.values(page).every((value) => value === null) ? null : JSON.stringify(page);
}

// Bounded because the list of an account's streams in the studio has all of them.
const STREAMS_MAX = 10_000;

async function findById(tx: Tx, id: string): Promise<StreamRow | null> {
  const [row] = await tx.query<StoredStreamRow>(`select ${COLUMNS} from streams where id = $1`, [
    id,
  ]);
  return row ? fromRow(row) : null;
}

/**
 * A stream of this producer. A stream of another producer is "not found" too, so that ids cannot be
 * probed, and is not locked, so that nobody delays the streams of others.
 * @throws DomainError `not-found`
 */
export async function ownStream(
  tx: Tx,
  id: string,
  producer: string,
  lock = '',
): Promise<StreamRow> {
  const [row] = await tx.query<StoredStreamRow>(
    `select ${COLUMNS} from streams where id = $1 and producer = $2 ${lock}`,
    [id, producer],
  );
  if (!row) throw new DomainError('not-found', 'This account has no such stream.');
  return fromRow(row);
}

/**
 * A stream of this producer, locked. Every transaction that writes to a stream begins with this, so
 * that writes to a stream are serialized across nodes.
 * @throws DomainError `not-found`
 */
export function lockOwnStream(tx: Tx, id: string, producer: string): Promise<StreamRow> {
  return ownStream(tx, id, producer, tx.locks.update);
}

async function saveState(tx: Tx, stream: StreamRow): Promise<StreamRow> {
  await tx.query(
    `update streams set status = $2, started = $3, ended = $4, ends_at = $5, reopened = $6
     where id = $1`,
    [stream.id, stream.status, stream.started, stream.ended, stream.endsAt, stream.reopened],
  );
  return stream;
}

/** Reads a stream that this transaction has locked. */
export async function readLockedStream(tx: Tx, id: string): Promise<StreamRow> {
  const stream = await findById(tx, id);
  if (!stream) throw new Error(`stream ${id} is missing`);
  return stream;
}

/**
 * Starts a stream that this transaction has locked. A source that is connected goes on; one that left
 * before the start has no time to return (M-8).
 * @throws DomainError `conflict` when it has ended
 */
export async function startLockedStream(tx: Tx, id: string, nowMs: number): Promise<StreamRow> {
  const stream = await readLockedStream(tx, id);
  const started = await saveState(tx, startStream(stream, nowMs));
  if (stream.status === 'CREATED') {
    await forgetLostSource(tx, id, nowMs);
    const data = { streamId: id, title: stream.title, started: nowMs };
    await logWebhookEvent(tx, { type: 'stream.started', streamId: id, key: id, data }, nowMs);
  }
  return started;
}

/** Ends a stream that this transaction has locked, now or at `atMs`. */
export async function endLockedStream(
  tx: Tx,
  stream: StreamRow,
  atMs: number | null,
  nowMs: number,
): Promise<StreamRow> {
  const ended = await saveState(tx, endStream(stream, atMs, nowMs));
  if (ended.status !== stream.status)
    await logWebhookEvent(tx, streamEndedEvent(stream, nowMs), nowMs);
  return ended;
}

function streamEndedEvent(
  { id, title, started }: Pick<StreamRow, 'id' | 'title' | 'started'>,
  nowMs: number,
): WebhookEvent {
  const data = { streamId: id, title, started, ended: nowMs };
  // A stream that was reopened ends again.
  return { type: 'stream.ended', streamId: id, key: `${id} ${nowMs}`, data };
}

/**
 * Reopens a stream that this transaction has locked (S-19). Without a source it waits for its end,
 * as after a start.
 * @throws DomainError `conflict` when it ended too long ago, and for a rehearsal
 */
export async function reopenLockedStream(
  tx: Tx,
  stream: StreamRow,
  nowMs: number,
): Promise<StreamRow> {
  const reopened = reopenStream(stream, nowMs);
  if (reopened === stream) return stream;
  if (stream.rehearsalOf !== null) {
    const detail = 'A rehearsal that has ended cannot be reopened. Start a new rehearsal.';
    throw new DomainError('conflict', detail);
  }
  const { id, title, started } = stream;
  await tx.query('update streams set source_ends_at = null, reported = 0 where id = $1', [id]);
  const data = { streamId: id, title, started, reopened: nowMs };
  const key = `${id} ${nowMs}`;
  await logWebhookEvent(tx, { type: 'stream.reopened', streamId: id, key, data }, nowMs);
  return saveState(tx, reopened);
}

/** The id of a stream or a quiz, and the account that must own it. */
export interface OwnId {
  readonly id: string;
  readonly producer: string;
}

/** A stream, and the account that must own it. */
export interface OwnStream {
  readonly streamId: string;
  readonly producer: string;
}

/** A show that the start page lists. */
export interface LiveShow {
  readonly id: string;
  readonly title: string;
}

/** A stream with its number, which rises from stream to stream. */
interface NumberedStream {
  readonly number: number;
  readonly stream: StreamRow;
}

export interface NewStreamRow extends OwnId {
  readonly stream: Omit<NewStream, keyof ShowPage> & Partial<ShowPage>;
  readonly nowMs: number;
  /** Set for a rehearsal: the stream that it rehearses, and its automatic end time. */
  readonly rehearsal?: { readonly of: string; readonly endsAtMs: number };
}

/** Inserts a stream of an account that this transaction has locked. */
export async function insertStream(
  tx: Tx,
  { id, producer, stream, nowMs, rehearsal }: NewStreamRow,
) {
  await tx.query(
    `insert into streams (id, number, producer, title, dash_url, hls_url, unlisted,
       latency_allowance_ms, recording, status, created, ends_at, rehearsal_of, auto_start, keep_open,
       show_page)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'CREATED', $10, $11, $12, $13, $14, $15)`,
    [
      id,
      await nextNumber(tx, 'stream'),
      producer,
      stream.title,
      stream.dash_url,
      stream.hls_url,
      Number(stream.unlisted),
      stream.latencyAllowance,
      Number(stream.recording),
      nowMs,
      rehearsal?.endsAtMs ?? null,
      rehearsal?.of ?? null,
      Number(stream.autoStart),
      Number(stream.keepOpen),
      storedShowPage(stream),
    ],
  );
}

export const streamProcedures = {
  createStream: writeProcedure(async (tx, input: NewStreamRow) => {
    await lockAccount(tx, input.producer);
    const owned = `streams where producer = $1 and ${NO_REHEARSAL}`;
    if ((await countRows(tx, owned, [input.producer])) >= STREAMS_MAX) {
      throw new DomainError('conflict', `An account has at most ${STREAMS_MAX} streams.`);
    }
    await insertStream(tx, input);
    return ownStream(tx, input.id, input.producer);
  }),

  findStream: readProcedure((tx, { id }: { id: string }) => findById(tx, id)),

  /** Those of these streams that are archived (S-21). */
  archivedAmong: readProcedure(
    async (tx, { ids, nowMs }: { ids: readonly string[]; nowMs: number }): Promise<string[]> => {
      const rows = await tx.query<{ id: string }>(
        `select streams.id as id from ${tx.rows('$1', ['id text'])} used
         join streams on streams.id = used.id where streams.ended <= $2`,
        [JSON.stringify(ids.map((id) => [id])), archivedEndMs(nowMs)],
      );
      return rows.map(({ id }) => id);
    },
  ),

  findOwnStream: readProcedure((tx, { id, producer }: OwnId) => ownStream(tx, id, producer)),

  /** Shows of all accounts that are live and not unlisted, those started last first. */
  listLiveShows: readProcedure(async (tx, { limit }: { limit: number }): Promise<LiveShow[]> => {
    const rows = await tx.query<LiveShow>(
      `select id, title from streams
       where status = 'STREAMING' and unlisted = 0 and ${NO_REHEARSAL}
       order by started desc, id limit $1`,
      [limit],
    );
    return [...rows];
  }),

  /** One page of a producer's streams, newest first, and their total number. */
  listStreams: readProcedure(
    async (
      tx,
      input: { producer: string; withUnlisted: boolean; limit: number; offset: number },
    ): Promise<{ count: number; streams: StreamRow[] }> => {
      const filter = `producer = $1 and unlisted <= $2 and ${NO_REHEARSAL}`;
      const filterParams = [input.producer, Number(input.withUnlisted)];
      const count = await countRows(tx, `streams where ${filter}`, filterParams);
      const rows = await tx.query<StoredStreamRow>(
        `select ${COLUMNS} from streams where ${filter}
         order by number desc limit $3 offset $4`,
        [...filterParams, input.limit, input.offset],
      );
      return { count, streams: rows.map(fromRow) };
    },
  ),

  /**
   * Some of an account's streams, newest first.
   * @param before the number of the last stream of the page before
   */
  pageOfOwnStreams: readProcedure(
    async (
      tx,
      input: { producer: string; before: number; limit: number },
    ): Promise<NumberedStream[]> => {
      const rows = await tx.query<StoredStreamRow & { readonly number: number }>(
        `select ${COLUMNS}, number from streams
         where producer = $1 and number < $2 and ${NO_REHEARSAL} order by number desc limit $3`,
        [input.producer, input.before, input.limit],
      );
      return rows.map(({ number, ...row }) => ({ number, stream: fromRow(row) }));
    },
  ),

  patchStream: writeProcedure(async (tx, input: OwnId & { patch: StreamPatch; nowMs: number }) => {
    const stream = await lockOwnStream(tx, input.id, input.producer);
    if (stream.rehearsalOf !== null) {
      const detail = 'A rehearsal cannot be changed. Change the show, then start a new rehearsal.';
      throw new DomainError('conflict', detail);
    }
    const {
      title = stream.title,
      dash_url = stream.dashUrl,
      hls_url = stream.hlsUrl,
      unlisted = stream.unlisted,
      latencyAllowance = stream.latencyAllowanceMs,
      recording = stream.recording,
      autoStart = stream.autoStart,
      keepOpen = stream.keepOpen,
    } = input.patch;
    const flags = [unlisted, recording, autoStart, keepOpen].map(Number);
    const showPage = storedShowPage({ ...stream.showPage, ...input.patch });
    await tx.query(
      `update streams set title = $2, dash_url = $3, hls_url = $4, latency_allowance_ms = $5,
       unlisted = $6, recording = $7, auto_start = $8, keep_open = $9,
       show_page = $10 where id = $1`,
      [input.id, title, dash_url, hls_url, latencyAllowance, ...flags, showPage],
    );
    // The time of a source that left while the stream was kept open may be over.
    if (stream.keepOpen && !keepOpen) await forgetLostSource(tx, input.id, input.nowMs);
    return ownStream(tx, input.id, input.producer);
  }),

  startStream: writeProcedure(async (tx, input: OwnId & { nowMs: number }) => {
    await lockOwnStream(tx, input.id, input.producer);
    return startLockedStream(tx, input.id, input.nowMs);
  }),

  /** Ends the stream now or at `atMs`, a rehearsal at most at its maximum length (SPEC Y-8). */
  endStream: writeProcedure(
    async (tx, { id, producer, atMs, nowMs }: OwnId & { atMs: number | null; nowMs: number }) => {
      const stream = await lockOwnStream(tx, id, producer);
      const latestMs =
        stream.rehearsalOf === null
          ? Number.POSITIVE_INFINITY
          : stream.created + REHEARSAL_LENGTH_MS;
      return endLockedStream(tx, stream, atMs && Math.min(atMs, latestMs), nowMs);
    },
  ),
};

/**
 * An SQL condition on streams: the lease of the source ended before the time in parameter 2, on the lease
 * clock, which does not count periods in which sealing was stalled.
 */
export const SOURCE_LOST = `status = 'STREAMING' and source_ends_at is not null and keep_open = 0
  and source_ends_at < $2 - (select standstill_ms from watermark)`;

/**
 * Ends those of these streams whose end time is before `beforeMs` (P-14), or whose source left too long
 * before it (M-7). It skips a stream that is locked by its producer or its source, which stays due.
 *
 * `+ 0` makes PostgreSQL read each stream by its id. While its statistics knew of no end times, it read their
 * index instead, and the list once for each entry: 10,000 streams took 17 s, and sealing failed at each try.
 * @returns a webhook event for each ended stream
 */
export async function endStreams(
  tx: Tx,
  ids: readonly string[],
  beforeMs: number,
  nowMs: number,
): Promise<WebhookEvent[]> {
  const due = await tx.query<Pick<StreamRow, 'id' | 'title' | 'started'>>(
    `select id, title, started from streams where id in (select id from ${tx.rows('$1', ['id text'])} due)
     and (ends_at + 0 < $2 or ${SOURCE_LOST}) order by id ${tx.locks.claim}`,
    [JSON.stringify(ids.map((id) => [id])), beforeMs],
  );
  if (due.length === 0) return [];
  await tx.query(
    `update streams set status = 'ENDED', ended = $2, ends_at = null
     where id in (select id from ${tx.rows('$1', ['id text'])} due)`,
    [JSON.stringify(due.map(({ id }) => [id])), nowMs],
  );
  return due.map((stream) => streamEndedEvent(stream, nowMs));
}
