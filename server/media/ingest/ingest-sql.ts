import type { SourceHealth } from '../../../protocol/ingest.ts';
import { lockAccount } from '../../auth/accounts/accounts-sql.ts';
import { leaseClockMs, type SealedTime } from '../../platform/lease-clock.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import type { SourceKind } from '../source.ts';
import { hasSource, type Lease, mayOpen, mayRenew, SOURCE_ALIVE_MS } from './lease-rules.ts';

/** What ingest needs to know of streams. Each function runs in the caller's transaction. */
export interface StreamAccess<Stream> {
  /** Checks that the stream is the producer's. @throws DomainError `not-found` */
  readonly ownStream: (tx: Tx, id: string, producer: string) => Promise<unknown>;
  /** As `ownStream`, and locks the stream's row. */
  readonly lockOwnStream: (tx: Tx, id: string, producer: string) => Promise<unknown>;
  /** Reads a stream whose row the transaction has locked. */
  readonly readLockedStream: (tx: Tx, id: string) => Promise<Stream>;
  /** As `readLockedStream`, and starts the stream unless it is started. */
  readonly startLockedStream: (tx: Tx, id: string, nowMs: number) => Promise<Stream>;
}

/** The source of a stream, as its producer sees it. */
export interface ConnectedSource {
  readonly kind: SourceKind;
  /** Null until the first measurement. */
  readonly health: SourceHealth | null;
}

/** A stream's key and its current source. */
export interface IngestRow extends SourceState {
  readonly key: string;
}

/** Result of `openSource`. */
export type OpenOutcome<Stream> =
  | { readonly outcome: 'opened'; readonly stream: Stream }
  | { readonly outcome: 'unknown-key' | 'busy' | 'ended' | 'too-many' };

/** Result of `renewSource`; `removed`: the stream was a rehearsal, and does not exist any more. */
export type RenewOutcome = LeaseState | { readonly outcome: 'removed' };

interface LeaseState {
  /** `lost`: the stream has another source or none. */
  readonly outcome: 'renewed' | 'lost' | 'ended';
  /** Whether the whole stream is recorded. */
  readonly recording: boolean;
  /** When the stream was started, Unix ms; null: the source is a preview. */
  readonly started: number | null;
  /** When the stream's end was last taken back, Unix ms; null: never. */
  readonly reopened: number | null;
}

/** The source of a stream at a given time. */
export interface SourceState {
  readonly source: ConnectedSource | null;
  /** When the stream ends because its source is lost, Unix ms; null while it has a source. */
  readonly sourceEndsAt: number | null;
}

interface SourceRow extends Lease {
  readonly id: string;
  readonly key: string | null;
  readonly kind: SourceKind | null;
  readonly health: string | null;
  /** Lease clock, ms. */
  readonly endsAtMs: number | null;
  readonly recording: number;
  readonly started: number | null;
  readonly reopened: number | null;
  readonly autoStart: number;
  readonly keepOpen: number;
}

const COLUMNS = `id, status, ingest_key as key, source, source_kind as kind,
  source_seen as "seenMs", source_ends_at as "endsAtMs", source_health as health, recording,
  started, reopened, auto_start as "autoStart", keep_open as "keepOpen"`;

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
    'select interval, standstill_ms as "stalledMs" from watermark',
  );
  if (!sealed) throw new Error('the database has no watermark');
  return leaseClockMs(sealed, nowMs);
}

interface OwnedStream {
  readonly id: string;
  readonly producer: string;
}

/** Locks the account of the stream with this key, before the stream, as all do that lock both. */
async function lockAccountOfKey(tx: Tx, key: string): Promise<string | null> {
  const [stream] = await tx.query<{ readonly producer: string }>(
    'select producer from streams where ingest_key = $1',
    [key],
  );
  if (!stream) return null;
  await lockAccount(tx, stream.producer);
  return stream.producer;
}

/** The number of streams of an account, other than this one, that have a source. */
async function countOtherSources(
  tx: Tx,
  { id, producer }: OwnedStream,
  leaseMs: number,
): Promise<number> {
  const [row] = await tx.query<{ readonly n: number }>(
    `select count(*) as n from streams where producer = $1 and source is not null and id <> $2
     and status <> 'ENDED' and source_seen > $3`,
    [producer, id, leaseMs - SOURCE_ALIVE_MS],
  );
  return Number(row?.n);
}

async function readIngest(tx: Tx, id: string, nowMs: number) {
  const { row, leaseMs } = await readSource(tx, id, nowMs);
  return { key: row.key, ...sourceStateOf(row, leaseMs, nowMs) };
}

async function readSource(tx: Tx, id: string, nowMs: number) {
  const row = await findBy(tx, 'id', id);
  if (!row) throw new Error(`stream ${id} does not exist`);
  return { row, leaseMs: await leaseMsAt(tx, nowMs) };
}

/** Reads a stream's source, and when the stream ends if it has lost its source. */
export async function readSourceState(tx: Tx, id: string, nowMs: number): Promise<SourceState> {
  const { row, leaseMs } = await readSource(tx, id, nowMs);
  return sourceStateOf(row, leaseMs, nowMs);
}

function sourceStateOf(row: SourceRow, leaseMs: number, nowMs: number): SourceState {
  const source = connectedSourceOf(row, leaseMs);
  const isLost = row.status === 'STREAMING' && source === null && !row.keepOpen;
  const endsAtMs = isLost ? row.endsAtMs : null;
  return { source, sourceEndsAt: endsAtMs === null ? null : nowMs + endsAtMs - leaseMs };
}

/** Lets a stream whose row the transaction has locked, and that has no source, wait for its end. */
export async function forgetLostSource(tx: Tx, id: string, nowMs: number): Promise<void> {
  const { row, leaseMs } = await readSource(tx, id, nowMs);
  if (hasSource(row, leaseMs)) return;
  await tx.query('update streams set source_ends_at = null where id = $1', [id]);
}

function connectedSourceOf(row: SourceRow, leaseMs: number): ConnectedSource | null {
  const { kind, health } = row;
  if (kind === null || !hasSource(row, leaseMs)) return null;
  return { kind, health: health === null ? null : JSON.parse(health) };
}

async function saveKey(tx: Tx, id: string, key: string): Promise<void> {
  await tx.query('update streams set ingest_key = $2 where id = $1', [id, key]);
}

/** Stream keys and sources of streams in the database. */
export function createIngestProcedures<Stream>(streams: StreamAccess<Stream>) {
  return {
    /** The stream's key, null before the first one, and its source. @throws DomainError `not-found` */
    findIngest: readProcedure(
      async (
        tx,
        input: OwnedStream & { nowMs: number },
      ): Promise<Omit<IngestRow, 'key'> & { readonly key: string | null }> => {
        await streams.ownStream(tx, input.id, input.producer);
        return readIngest(tx, input.id, input.nowMs);
      },
    ),

    /** Returns the stream's key; sets it to `offered` when it has none. @throws DomainError `not-found` */
    keepStreamKey: writeProcedure(
      async (tx, input: OwnedStream & { offered: string }): Promise<string> => {
        await streams.lockOwnStream(tx, input.id, input.producer);
        const row = await findBy(tx, 'id', input.id);
        if (row?.key) return row.key;
        await saveKey(tx, input.id, input.offered);
        return input.offered;
      },
    ),

    /**
     * Replaces the stream's key. The old key is rejected from then on; a source that it opened stays
     * (M-1).
     * @throws DomainError `not-found`
     */
    rotateStreamKey: writeProcedure(
      async (tx, input: OwnedStream & { key: string; nowMs: number }): Promise<IngestRow> => {
        await streams.lockOwnStream(tx, input.id, input.producer);
        await saveKey(tx, input.id, input.key);
        return { ...(await readIngest(tx, input.id, input.nowMs)), key: input.key };
      },
    ),

    /**
     * Makes a session the source of the stream with this key. It starts a stream with `autoStart`; for
     * another it is a preview until the start. A started stream ends `graceMs` after the last renewal by
     * this session or a later one (M-7, M-8).
     */
    openSource: writeProcedure(
      async (
        tx,
        input: {
          key: string;
          /** Stream named by the sender; the key of another stream gives `unknown-key`. */
          streamId?: string;
          session: string;
          kind: SourceKind;
          nowMs: number;
          graceMs: number;
          /** Most sources of the account. */
          sourcesMax: number;
        },
      ): Promise<OpenOutcome<Stream>> => {
        const { key, session, kind, nowMs, graceMs, sourcesMax } = input;
        const producer = await lockAccountOfKey(tx, key);
        const row = await findBy(tx, 'ingest_key', key, tx.locks.update);
        if (producer === null || !row || row.id !== (input.streamId ?? row.id))
          return { outcome: 'unknown-key' };
        const leaseMs = await leaseMsAt(tx, nowMs);
        const outcome = mayOpen(row, session, leaseMs);
        if (outcome !== 'opened') return { outcome };
        if ((await countOtherSources(tx, { id: row.id, producer }, leaseMs)) >= sourcesMax)
          return { outcome: 'too-many' };
        await tx.query(
          `update streams set source = $2, source_kind = $3, source_seen = $4, source_ends_at = $5,
           source_health = null where id = $1`,
          [row.id, session, kind, leaseMs, leaseMs + graceMs],
        );
        const stream = row.autoStart
          ? await streams.startLockedStream(tx, row.id, nowMs)
          : await streams.readLockedStream(tx, row.id);
        return { outcome, stream };
      },
    ),

    /** Renews the lease of a session and stores its health. Called every 2 s. */
    renewSource: writeProcedure(
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
        if (!row) return { outcome: 'removed' };
        const outcome = mayRenew(row, session);
        const { started, reopened } = row;
        const renewal = { outcome, recording: Boolean(row.recording), started, reopened };
        if (outcome !== 'renewed') return renewal;
        const leaseMs = await leaseMsAt(tx, nowMs);
        await tx.query(
          `update streams set source_seen = $2, source_ends_at = $3, source_health = $4
         where id = $1`,
          [streamId, leaseMs, leaseMs + graceMs, health && JSON.stringify(health)],
        );
        return renewal;
      },
    ),

    /**
     * Ends the lease of a session. Another source may open at once, also if the stream has ended and is
     * reopened; otherwise the stream ends after `graceMs`. Does nothing when the stream has another source.
     */
    releaseSource: writeProcedure(
      async (
        tx,
        input: { streamId: string; session: string; nowMs: number; graceMs: number },
      ): Promise<void> => {
        const row = await findBy(tx, 'id', input.streamId, tx.locks.update);
        if (row?.source !== input.session) return;
        const leaseMs = await leaseMsAt(tx, input.nowMs);
        await tx.query(
          `update streams set source = null, source_kind = null, source_seen = null,
           source_ends_at = $2, source_health = null where id = $1`,
          [input.streamId, leaseMs + input.graceMs],
        );
      },
    ),
  };
}
