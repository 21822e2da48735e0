import { REHEARSAL_LENGTH_MS } from '../../../protocol/rehearsal.ts';
import type { NewStream, StreamPatch } from '../../../protocol/studio.ts';
import { lockAccount } from '../../auth/accounts/accounts-sql.ts';
import { Refusal } from '../../platform/errors.ts';
import { nextNumber } from '../../storage/sql/counters.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { NO_REHEARSAL } from '../rehearsals/hidden.ts';
import { note } from '../webhooks/event-log-sql.ts';
import type { WebhookEvent } from '../webhooks/webhook-events.ts';
import { ended, type StreamState, started } from './stream-rules.ts';

/** A stream as the database keeps it. */
export interface StreamRow extends StreamState {
  readonly id: string;
  readonly producer: string;
  readonly title: string;
  readonly dashUrl: string | null;
  readonly hlsUrl: string | null;
  readonly unlisted: boolean;
  readonly latencyAllowanceMs: number;
  /** Its video is kept whole, for as long as there is room. */
  readonly recording: boolean;
  readonly created: number;
  /** Rises with every change of its quizzes. */
  readonly rundownRevision: number;
  /** The stream that this one rehearses, hidden from all who do not make the show; null: none. */
  readonly rehearsalOf: string | null;
}

const COLUMNS = `id, producer, title, dash_url as "dashUrl", hls_url as "hlsUrl", unlisted,
  latency_allowance_ms as "latencyAllowanceMs", recording, status, created, started, ended,
  ends_at as "endsAt", rundown_revision as "rundownRevision", rehearsal_of as "rehearsalOf"`;

const fromRow = (row: StreamRow): StreamRow => ({
  ...row,
  unlisted: Boolean(row.unlisted),
  recording: Boolean(row.recording),
});

// The studio lists all streams of an account at once.
const STREAMS_MAX = 10_000;

async function find(tx: Tx, id: string, lock = ''): Promise<StreamRow | null> {
  const [row] = await tx.query<StreamRow>(`select ${COLUMNS} from streams where id = $1 ${lock}`, [
    id,
  ]);
  return row ? fromRow(row) : null;
}

/**
 * The stream, if it is this producer's. Another producer's is "not found" too, so that ids of
 * others cannot be probed.
 * @throws Refusal `not-found`
 */
export async function ownStream(tx: Tx, id: string, producer: string): Promise<StreamRow> {
  return owned(await find(tx, id), producer);
}

/**
 * The stream, if it is this producer's, locked: every transaction that writes to a stream begins
 * with this, so that on however many nodes they come one after the other.
 * @throws Refusal `not-found`
 */
export async function lockOwnStream(tx: Tx, id: string, producer: string): Promise<StreamRow> {
  const stream = await find(tx, id, tx.locks.update);
  return owned(stream, producer);
}

function owned(stream: StreamRow | null, producer: string): StreamRow {
  if (!stream || stream.producer !== producer) {
    throw new Refusal('not-found', 'This account has no such stream.');
  }
  return stream;
}

async function saveState(tx: Tx, id: string, state: StreamState): Promise<void> {
  await tx.query(
    'update streams set status = $2, started = $3, ended = $4, ends_at = $5 where id = $1',
    [id, state.status, state.started, state.ended, state.endsAt],
  );
}

/**
 * Starts a stream that this transaction has locked.
 * @throws Refusal `conflict` when it has ended
 */
export async function startLockedStream(tx: Tx, id: string, nowMs: number): Promise<StreamRow> {
  const stream = await find(tx, id);
  if (!stream) throw new Error(`stream ${id} is gone`);
  const state = started(stream, nowMs);
  await saveState(tx, id, state);
  if (stream.status === 'CREATED') {
    const data = { streamId: id, title: stream.title, started: nowMs };
    await note(tx, { type: 'stream.started', streamId: id, key: id, data }, nowMs);
  }
  return { ...stream, ...state };
}

/** Ends a stream that this transaction has locked, now or at `atMs`. */
export async function endLockedStream(
  tx: Tx,
  stream: StreamRow,
  atMs: number | null,
  nowMs: number,
): Promise<StreamRow> {
  const state = ended(stream, atMs, nowMs);
  await saveState(tx, stream.id, state);
  if (state.status !== stream.status) await note(tx, endOf(stream, nowMs), nowMs);
  return { ...stream, ...state };
}

/** That a stream has ended, for webhooks. */
function endOf(
  { id, title, started }: Pick<StreamRow, 'id' | 'title' | 'started'>,
  nowMs: number,
): WebhookEvent {
  const data = { streamId: id, title, started, ended: nowMs };
  return { type: 'stream.ended', streamId: id, key: id, data };
}

interface Own {
  readonly id: string;
  readonly producer: string;
}

/** A stream to make. */
export interface NewRow extends Own {
  readonly stream: NewStream;
  readonly nowMs: number;
  /** The stream that it rehearses, and when it ends by itself. */
  readonly rehearsal?: { readonly of: string; readonly endsAtMs: number };
}

/** Makes a stream of an account that this transaction has locked. */
export async function insertStream(tx: Tx, { id, producer, stream, nowMs, rehearsal }: NewRow) {
  await tx.query(
    `insert into streams (id, number, producer, title, dash_url, hls_url, unlisted,
       latency_allowance_ms, recording, status, created, ends_at, rehearsal_of)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'CREATED', $10, $11, $12)`,
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
    ],
  );
}

export const streamProcedures = {
  createStream: writing(async (tx, input: NewRow) => {
    await lockAccount(tx, input.producer);
    const [counted] = await tx.query<{ n: number }>(
      `select count(*) as n from streams where producer = $1 and ${NO_REHEARSAL}`,
      [input.producer],
    );
    if (Number(counted?.n) >= STREAMS_MAX) {
      throw new Refusal('conflict', `An account has at most ${STREAMS_MAX} streams.`);
    }
    await insertStream(tx, input);
    return ownStream(tx, input.id, input.producer);
  }),

  findStream: reading((tx, { id }: { id: string }) => find(tx, id)),

  findOwnStream: reading((tx, { id, producer }: Own) => ownStream(tx, id, producer)),

  /** One page of a producer's streams, newest first, with the number of all of them. */
  listStreams: reading(
    async (
      tx,
      input: { producer: string; withUnlisted: boolean; limit: number; offset: number },
    ): Promise<{ count: number; streams: StreamRow[] }> => {
      const filter = `producer = $1 and unlisted <= $2 and ${NO_REHEARSAL}`;
      const filterParams = [input.producer, Number(input.withUnlisted)];
      const [counted] = await tx.query<{ n: number }>(
        `select count(*) as n from streams where ${filter}`,
        filterParams,
      );
      const rows = await tx.query<StreamRow>(
        `select ${COLUMNS} from streams where ${filter}
         order by number desc limit $3 offset $4`,
        [...filterParams, input.limit, input.offset],
      );
      return { count: Number(counted?.n), streams: rows.map(fromRow) };
    },
  ),

  patchStream: writing(async (tx, input: Own & { patch: StreamPatch }): Promise<StreamRow> => {
    const stream = await lockOwnStream(tx, input.id, input.producer);
    if (stream.rehearsalOf !== null) {
      throw new Refusal(
        'conflict',
        'A rehearsal is as its show was; change that, and rehearse it.',
      );
    }
    const { patch } = input;
    const kept = <T>(changed: T | undefined, current: T): T =>
      changed === undefined ? current : changed;
    await tx.query(
      `update streams set title = $2, dash_url = $3, hls_url = $4, unlisted = $5,
         latency_allowance_ms = $6, recording = $7 where id = $1`,
      [
        input.id,
        kept(patch.title, stream.title),
        kept(patch.dash_url, stream.dashUrl),
        kept(patch.hls_url, stream.hlsUrl),
        Number(kept(patch.unlisted, stream.unlisted)),
        kept(patch.latencyAllowance, stream.latencyAllowanceMs),
        Number(kept(patch.recording, stream.recording)),
      ],
    );
    return ownStream(tx, input.id, input.producer);
  }),

  startStream: writing(async (tx, input: Own & { nowMs: number }): Promise<StreamRow> => {
    await lockOwnStream(tx, input.id, input.producer);
    return startLockedStream(tx, input.id, input.nowMs);
  }),

  /** Ends the stream now, or has it end at `atMs`, a rehearsal no later than all of them (SPEC Y-8). */
  endStream: writing(
    async (tx, input: Own & { atMs: number | null; nowMs: number }): Promise<StreamRow> => {
      const { atMs, nowMs } = input;
      const stream = await lockOwnStream(tx, input.id, input.producer);
      const latestMs =
        stream.rehearsalOf === null
          ? Number.POSITIVE_INFINITY
          : stream.created + REHEARSAL_LENGTH_MS;
      return endLockedStream(tx, stream, atMs && Math.min(atMs, latestMs), nowMs);
    },
  ),
};

/**
 * A condition on streams: the source was not heard of for too long, before the moment in parameter 2.
 * It is by the clock of leases, which counts no time that is after the watermark.
 */
export const LEFT_BY_SOURCE = `status = 'STREAMING' and source_ends_at is not null
  and source_ends_at < $2 - (select standstill_ms from watermark)`;

/**
 * Due work, part of sealing: ends those of these streams whose time lies before `beforeMs` (P-14),
 * or that their source left for too long by then (M-7), however late the sealing is. One that its
 * producer is at work on stays due, and so does one whose source is just coming back.
 * @returns those that it ended, for webhooks
 */
export async function endStreams(
  tx: Tx,
  ids: readonly string[],
  beforeMs: number,
  nowMs: number,
): Promise<WebhookEvent[]> {
  if (ids.length === 0) return [];
  const due = await tx.query<Pick<StreamRow, 'id' | 'title' | 'started'>>(
    `select id, title, started from streams where id in (select id from ${tx.rows('$1', ['id text'])} due)
     and (ends_at < $2 or ${LEFT_BY_SOURCE}) order by id ${tx.locks.claim}`,
    [JSON.stringify(ids.map((id) => [id])), beforeMs],
  );
  if (due.length === 0) return [];
  await tx.query(
    `update streams set status = 'ENDED', ended = $2, ends_at = null
     where id in (select id from ${tx.rows('$1', ['id text'])} due)`,
    [JSON.stringify(due.map(({ id }) => [id])), nowMs],
  );
  return due.map((stream) => endOf(stream, nowMs));
}
