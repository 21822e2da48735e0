import {
  type CrowdFigures,
  type NewRehearsal,
  REHEARSAL_KEPT_MS,
  REHEARSAL_LENGTH_MS,
  REHEARSALS_OF_ACCOUNT_MAX,
  REHEARSALS_OF_NODE_MAX,
} from '../../../protocol/rehearsal.ts';
import { lockAccount } from '../../auth/accounts/accounts-sql.ts';
import { Refusal } from '../../platform/errors.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { addDrafts, type NewDraft } from '../rundown/drafts-sql.ts';
import {
  endLockedStream,
  insertStream,
  lockOwnStream,
  ownStream,
  type StreamRow,
} from '../streams/streams-sql.ts';

/** A rehearsal as the database keeps it; times in Unix ms. */
export interface RehearsalRow {
  /** The hidden stream. */
  readonly streamId: string;
  readonly showId: string;
  /** The node that sends its viewers. */
  readonly node: string;
  readonly settings: NewRehearsal;
  readonly figures: CrowdFigures | null;
  readonly created: number;
  /** When the node last told of them. */
  readonly seen: number;
  /** When the node sent them home; null while they are there, as far as is known. */
  readonly ended: number | null;
}

/** A node that is silent for longer is gone, and the viewers with it: it tells once a second. */
export const LOST_AFTER_MS = 5_000;

const COLUMNS = `stream_id as "streamId", show_id as "showId", node, settings, figures, created, seen,
  ended`;
/** Of a rehearsal whose viewers may be there at the moment in this parameter. */
const runs = (since: string) => `is_current = 1 and ended is null and seen >= ${since}`;

type Stored = Omit<RehearsalRow, 'settings' | 'figures'> & { settings: string; figures: string };

const fromRow = (row: Stored): RehearsalRow => ({
  ...row,
  settings: JSON.parse(row.settings),
  figures: row.figures === null ? null : JSON.parse(row.figures),
});

interface OfShow {
  readonly showId: string;
  readonly producer: string;
  readonly nowMs: number;
}

/** What became of a report: `over`: the show has ended, and so must they; `gone`: nobody wants them. */
export type ReportOutcome = 'running' | 'over' | 'gone';

export const rehearsalProcedures = {
  /**
   * Makes a hidden stream with these drafts, whose viewers the node will send. A rehearsal that is over
   * makes place for it.
   * @throws Refusal `conflict` beside one that is running, or when the node or the account has too many
   */
  createRehearsal: writing(
    async (
      tx,
      input: OfShow & {
        id: string;
        node: string;
        settings: NewRehearsal;
        drafts: readonly NewDraft[];
      },
    ): Promise<RehearsalRow> => {
      const { id, showId, producer, node, settings, drafts, nowMs } = input;
      await lockAccount(tx, producer);
      const show = await lockOwnStream(tx, showId, producer);
      if (show.rehearsalOf !== null) throw new Refusal('conflict', 'This is a rehearsal already.');
      const former = await current(tx, showId);
      if (former && isRunning(former, nowMs)) {
        throw new Refusal('conflict', 'A rehearsal is running; end it first.');
      }
      if (former) await dismiss(tx, former, producer, nowMs);
      await insertStream(tx, {
        id,
        producer,
        stream: hiddenStreamOf(show),
        nowMs,
        rehearsal: { of: showId, endsAtMs: nowMs + REHEARSAL_LENGTH_MS },
      });
      // Only now: streams are numbered one transaction after the other, so that it sees all before it.
      await checkRoom(tx, producer, node, nowMs);
      if (drafts.length > 0) await addDrafts(tx, id, drafts);
      await tx.query(
        `insert into rehearsals (stream_id, show_id, account, node, settings, created, seen, is_current)
         values ($1, $2, $3, $4, $5, $6, $6, 1)`,
        [id, showId, producer, node, JSON.stringify(settings), nowMs],
      );
      return found(await current(tx, showId));
    },
  ),

  /** The rehearsal of a show. @throws Refusal `not-found` */
  findRehearsal: reading(async (tx, { showId, producer, nowMs }: OfShow): Promise<RehearsalRow> => {
    await ownStream(tx, showId, producer);
    const row = found(await current(tx, showId));
    return row.created > nowMs - REHEARSAL_KEPT_MS ? row : found(null);
  }),

  /**
   * Ends the rehearsal of a show; what is kept of it is removed next.
   * @returns the hidden stream
   * @throws Refusal `not-found`
   */
  dismissRehearsal: writing(async (tx, { showId, producer, nowMs }: OfShow): Promise<string> => {
    await lockOwnStream(tx, showId, producer);
    const row = found(await current(tx, showId));
    await dismiss(tx, row, producer, nowMs);
    return row.streamId;
  }),

  /** What the node hears of the viewers that it sends. @param isLast they are sent home */
  reportRehearsal: writing(
    async (
      tx,
      input: {
        id: string;
        node: string;
        figures: CrowdFigures | null;
        isLast: boolean;
        nowMs: number;
      },
    ): Promise<ReportOutcome> => {
      const { id, node, figures, isLast, nowMs } = input;
      const { affected } = await tx.query(
        `update rehearsals set figures = coalesce($3, figures), seen = $4, ended = $5
         where stream_id = $1 and node = $2 and is_current = 1 and ended is null`,
        [id, node, figures && JSON.stringify(figures), nowMs, isLast ? nowMs : null],
      );
      if (affected === 0) return 'gone';
      const [stream] = await tx.query<{ status: string }>(
        'select status from streams where id = $1',
        [id],
      );
      return stream?.status === 'ENDED' ? 'over' : 'running';
    },
  ),
};

/** Whether its viewers are there, as far as is known. */
export function isRunning({ ended, seen }: RehearsalRow, nowMs: number): boolean {
  return ended === null && seen >= nowMs - LOST_AFTER_MS;
}

async function current(tx: Tx, showId: string): Promise<RehearsalRow | null> {
  const [row] = await tx.query<Stored>(
    `select ${COLUMNS} from rehearsals where show_id = $1 and is_current = 1`,
    [showId],
  );
  return row ? fromRow(row) : null;
}

function found(row: RehearsalRow | null): RehearsalRow {
  if (!row) throw new Refusal('not-found', 'This show has no rehearsal.');
  return row;
}

/** It is the show's no more, and nobody can do anything in its stream. */
async function dismiss(
  tx: Tx,
  { streamId }: RehearsalRow,
  producer: string,
  nowMs: number,
): Promise<void> {
  const stream = await lockOwnStream(tx, streamId, producer);
  await endLockedStream(tx, stream, null, nowMs);
  await tx.query('update rehearsals set is_current = 0 where stream_id = $1', [streamId]);
}

/** @throws Refusal `conflict` */
async function checkRoom(tx: Tx, account: string, node: string, nowMs: number): Promise<void> {
  const [counted] = await tx.query<{ ofaccount: number; ofnode: number }>(
    `select (select count(*) from rehearsals where account = $1 and removed is null) as ofaccount,
       (select count(*) from rehearsals where node = $2 and ${runs('$3')}) as ofnode`,
    [account, node, nowMs - LOST_AFTER_MS],
  );
  if (Number(counted?.ofnode) >= REHEARSALS_OF_NODE_MAX) {
    const detail = `There are ${REHEARSALS_OF_NODE_MAX} rehearsals here already; try again when one is over.`;
    throw new Refusal('conflict', detail);
  }
  if (Number(counted?.ofaccount) >= REHEARSALS_OF_ACCOUNT_MAX) {
    const detail = 'Rehearsals before this one are still being removed; try again in a while.';
    throw new Refusal('conflict', detail);
  }
}

/** As the show, but that nobody finds it and nothing is kept. */
function hiddenStreamOf({ title, dashUrl, hlsUrl, latencyAllowanceMs }: StreamRow) {
  return {
    title,
    dash_url: dashUrl,
    hls_url: hlsUrl,
    latencyAllowance: latencyAllowanceMs,
    unlisted: true,
    recording: false,
  };
}
