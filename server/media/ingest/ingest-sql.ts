import type { SourceHealth } from '../../../protocol/ingest.ts';
import {
  lockOwnStream,
  ownStream,
  type StreamRow,
  startLockedStream,
} from '../../domains/streams/streams-sql.ts';
import { Refusal } from '../../platform/errors.ts';
import { leaseClockMs, type SealedTime } from '../../realtime/coordination/lease-clock.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import type { SourceKind } from '../source.ts';
import { hasSource, type Lease, mayOpen, mayRenew } from './lease-rules.ts';

/** The source of a stream, as its producer sees it. */
export interface LiveSource {
  readonly kind: SourceKind;
  /** Null until it was measured. */
  readonly health: SourceHealth | null;
}

/** What is needed to send a stream's video, and what is sent. */
export interface IngestRow {
  readonly key: string;
  readonly source: LiveSource | null;
}

/** What became of one who wants to be the source. */
export type OpenOutcome =
  | { readonly outcome: 'opened'; readonly stream: StreamRow }
  | { readonly outcome: 'unknown-key' | 'busy' | 'ended' };

export interface RenewOutcome {
  /** `lost`: another is the source. */
  readonly outcome: 'renewed' | 'lost' | 'ended';
  /** Whether the whole stream is to be kept. */
  readonly recording: boolean;
}

/** What sends the picture of a stream at a moment. */
export interface SourceNow {
  /** null: nothing does. */
  readonly source: LiveSource | null;
  /** When the stream ends, as its source is gone, Unix ms; null: it does not end by that. */
  readonly sourceEndsAt: number | null;
}

interface SourceRow extends Lease {
  readonly id: string;
  readonly key: string | null;
  readonly kind: SourceKind | null;
  readonly health: string | null;
  /** By the clock of leases, in ms. */
  readonly endsAtMs: number | null;
  readonly recording: number;
}

const COLUMNS = `id, status, ingest_key as key, source, source_kind as kind,
  source_seen as "seenMs", source_ends_at as "endsAtMs", source_health as health, recording`;

async function findBy(
  tx: Tx,
  column: 'id' | 'ingest_key',
  value: string,
  lock = '',
): Promise<SourceRow | undefined> {
  const [row] = await tx.query<SourceRow>(
    `select ${COLUMNS} from streams where ${column} = $1 ${lock}`,
    [value],
  );
  return row;
}

async function leaseMsAt(tx: Tx, nowMs: number): Promise<number> {
  const [sealed] = await tx.query<SealedTime>(
    'select interval, standstill_ms as "standstillMs" from watermark',
  );
  if (!sealed) throw new Error('the database has no watermark');
  return leaseClockMs(sealed, nowMs);
}

interface Own {
  readonly id: string;
  readonly producer: string;
}

async function readIngest(tx: Tx, id: string, nowMs: number) {
  const { row, leaseMs } = await readSource(tx, id, nowMs);
  return { key: row.key, source: liveSourceOf(row, leaseMs) };
}

async function readSource(tx: Tx, id: string, nowMs: number) {
  const row = await findBy(tx, 'id', id);
  if (!row) throw new Error(`stream ${id} is gone`);
  return { row, leaseMs: await leaseMsAt(tx, nowMs) };
}

/** What sends the picture of a stream, and when the stream ends if nothing does any more. */
export async function sourceNow(tx: Tx, id: string, nowMs: number): Promise<SourceNow> {
  const { row, leaseMs } = await readSource(tx, id, nowMs);
  const source = liveSourceOf(row, leaseMs);
  const isLost = row.status === 'STREAMING' && source === null && row.endsAtMs !== null;
  return { source, sourceEndsAt: isLost ? nowMs + (row.endsAtMs ?? 0) - leaseMs : null };
}

function liveSourceOf(row: SourceRow, leaseMs: number): LiveSource | null {
  const { kind, health } = row;
  if (kind === null || !hasSource(row, leaseMs)) return null;
  return { kind, health: health === null ? null : JSON.parse(health) };
}

async function saveKey(tx: Tx, id: string, key: string): Promise<void> {
  await tx.query('update streams set ingest_key = $2 where id = $1', [id, key]);
}

export const ingestProcedures = {
  /** A stream's key, if it has one yet, and its source. @throws Refusal `not-found` */
  findIngest: reading(
    async (
      tx,
      input: Own & { nowMs: number },
    ): Promise<Omit<IngestRow, 'key'> & { readonly key: string | null }> => {
      await ownStream(tx, input.id, input.producer);
      return readIngest(tx, input.id, input.nowMs);
    },
  ),

  /** The stream's key; the one that is offered when it had none. @throws Refusal `not-found` */
  keepStreamKey: writing(async (tx, input: Own & { offered: string }): Promise<string> => {
    await lockOwnStream(tx, input.id, input.producer);
    const row = await findBy(tx, 'id', input.id);
    if (row?.key) return row.key;
    await saveKey(tx, input.id, input.offered);
    return input.offered;
  }),

  /**
   * Gives the stream another key. The old one opens nothing from then on; a source that it opened
   * stays (M-1).
   * @throws Refusal `not-found`
   */
  rotateStreamKey: writing(
    async (tx, input: Own & { key: string; nowMs: number }): Promise<IngestRow> => {
      await lockOwnStream(tx, input.id, input.producer);
      await saveKey(tx, input.id, input.key);
      const { source } = await readIngest(tx, input.id, input.nowMs);
      return { key: input.key, source };
    },
  ),

  /**
   * Makes a session the source of the stream that has this key, and starts the stream. From then on
   * it ends `graceMs` after the session was last heard of, or its successor (M-7, M-8). A key of
   * another stream than the one that is named is not known.
   */
  openSource: writing(
    async (
      tx,
      input: {
        key: string;
        /** The stream that the sender named; another's key is as good as none. */
        streamId?: string;
        session: string;
        kind: SourceKind;
        nowMs: number;
        graceMs: number;
      },
    ): Promise<OpenOutcome> => {
      const { key, session, kind, nowMs, graceMs } = input;
      const row = await findBy(tx, 'ingest_key', key, tx.locks.update);
      if (!row || row.id !== (input.streamId ?? row.id)) return { outcome: 'unknown-key' };
      const leaseMs = await leaseMsAt(tx, nowMs);
      const outcome = mayOpen(row, session, leaseMs);
      if (outcome !== 'opened') return { outcome };
      await tx.query(
        `update streams set source = $2, source_kind = $3, source_seen = $4, source_ends_at = $5,
           source_health = null where id = $1`,
        [row.id, session, kind, leaseMs, leaseMs + graceMs],
      );
      return { outcome, stream: await startLockedStream(tx, row.id, nowMs) };
    },
  ),

  /** The session is still the source, in this state. It says so every 2 s. */
  renewSource: writing(
    async (
      tx,
      input: {
        streamId: string;
        session: string;
        nowMs: number;
        graceMs: number;
        health: SourceHealth | null;
      },
    ): Promise<RenewOutcome> => {
      const { streamId, session, nowMs, graceMs, health } = input;
      const row = await findBy(tx, 'id', streamId, tx.locks.update);
      if (!row) throw new Refusal('not-found', 'There is no such stream.');
      const outcome = mayRenew(row, session);
      const recording = Boolean(row.recording);
      if (outcome !== 'renewed') return { outcome, recording };
      const leaseMs = await leaseMsAt(tx, nowMs);
      await tx.query(
        `update streams set source_seen = $2, source_ends_at = $3, source_health = $4
         where id = $1`,
        [streamId, leaseMs, leaseMs + graceMs, health && JSON.stringify(health)],
      );
      return { outcome, recording };
    },
  ),

  /**
   * The session is the source no more. Another may come at once; the stream ends `graceMs` later
   * unless one does. Means nothing when another is the source already.
   */
  releaseSource: writing(
    async (
      tx,
      input: { streamId: string; session: string; nowMs: number; graceMs: number },
    ): Promise<void> => {
      const row = await findBy(tx, 'id', input.streamId, tx.locks.update);
      if (!row || mayRenew(row, input.session) !== 'renewed') return;
      const leaseMs = await leaseMsAt(tx, input.nowMs);
      await tx.query(
        `update streams set source = null, source_kind = null, source_seen = null,
           source_ends_at = $2, source_health = null where id = $1`,
        [input.streamId, leaseMs + input.graceMs],
      );
    },
  ),
};
