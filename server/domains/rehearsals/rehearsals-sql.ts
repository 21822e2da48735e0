import {
  REHEARSAL_LENGTH_MS,
  REHEARSAL_RETENTION_MS,
  REHEARSALS_PER_ACCOUNT_MAX,
  REHEARSALS_PER_NODE_AND_ACCOUNT_MAX,
  REHEARSALS_PER_NODE_MAX,
} from '../../../protocol/limits.ts';
import type { CrowdFigures, NewRehearsal } from '../../../protocol/rehearsal.ts';
import { lockAccount } from '../../auth/accounts/accounts-sql.ts';
import { DomainError } from '../../platform/errors.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { copyProducts } from '../products/products-sql.ts';
import { newQuizOf, quizzesById } from '../quizzes/quizzes-sql.ts';
import { addDrafts } from '../rundown/drafts-sql.ts';
import {
  endLockedStream,
  insertStream,
  lockOwnStream,
  ownStream,
  type StreamRow,
} from '../streams/streams-sql.ts';

/** A rehearsal as stored; times in Unix ms. */
export interface RehearsalRow {
  readonly streamId: string;
  readonly showId: string;
  /** The node that runs its viewers. */
  readonly node: string;
  readonly settings: NewRehearsal;
  readonly figures: CrowdFigures | null;
  readonly created: number;
  /** Time of the node's last report. */
  readonly seen: number;
  /** When the node ended the viewers; null before, and if the node died. */
  readonly ended: number | null;
}

/** A rehearsal whose node has not reported for this long is lost. A node reports once a second. */
export const LOST_AFTER_MS = 5_000;

const COLUMNS = `stream_id as "streamId", show_id as "showId", node, settings, figures, created, seen,
  ended`;
/** SQL condition: the rehearsal is running. @param since parameter with the earliest valid `seen` */
const isRunningSql = (since: string) => `is_current = 1 and ended is null and seen >= ${since}`;

type StoredRow = Omit<RehearsalRow, 'settings' | 'figures'> & { settings: string; figures: string };

const fromRow = (row: StoredRow): RehearsalRow => ({
  ...row,
  settings: JSON.parse(row.settings),
  figures: row.figures === null ? null : JSON.parse(row.figures),
});

interface ShowRef {
  readonly showId: string;
  readonly producer: string;
  readonly nowMs: number;
}

/** A draft of a show, and the id of its copy. */
export interface DraftCopy {
  readonly id: string;
  readonly copyId: string;
}

/**
 * The reply to a report of a node: `over`, the show has ended and the viewers must finish; `gone`, the
 * rehearsal was dismissed and the viewers must stop at once.
 */
export type ReportOutcome = 'running' | 'over' | 'gone';

export const rehearsalProcedures = {
  /**
   * Creates the hidden stream of a rehearsal, which has no quizzes yet (`copyDrafts`), and dismisses a previous
   * rehearsal that is over.
   * @throws DomainError `conflict` while another is running, or at a limit of the node or the account
   */
  createRehearsal: writeProcedure(
    async (
      tx,
      input: ShowRef & {
        id: string;
        node: string;
        settings: NewRehearsal;
      },
    ): Promise<RehearsalRow> => {
      const { id, showId, producer, node, settings, nowMs } = input;
      await lockAccount(tx, producer);
      const show = await lockOwnStream(tx, showId, producer);
      if (show.rehearsalOf !== null)
        throw new DomainError('conflict', 'This stream is a rehearsal; rehearse its show instead.');
      const previous = await current(tx, showId);
      if (previous && isRunning(previous, nowMs)) {
        throw new DomainError('conflict', 'A rehearsal is running; end it first.');
      }
      if (previous) await dismiss(tx, previous, producer, nowMs);
      await insertStream(tx, {
        id,
        producer,
        stream: hiddenStreamOf(show),
        nowMs,
        rehearsal: { of: showId, endsAtMs: nowMs + REHEARSAL_LENGTH_MS },
      });
      // After the insert: it serializes on the stream counter, so that the count sees all earlier ones.
      await checkLimits(tx, producer, node, nowMs);
      await copyProducts(tx, showId, id);
      await tx.query(
        `insert into rehearsals (stream_id, show_id, account, node, settings, created, seen, is_current)
         values ($1, $2, $3, $4, $5, $6, $6, 1)`,
        [id, showId, producer, node, JSON.stringify(settings), nowMs],
      );
      return orNotFound(await current(tx, showId));
    },
  ),

  /**
   * Adds copies of some drafts of the show to a hidden stream, in the order of `drafts`, unless it has them;
   * those that the show has no more are left out. All at once would hold up the writes of others for half a second.
   * @throws DomainError `not-found` when the rehearsal was removed meanwhile
   */
  copyDrafts: writeProcedure(
    async (tx, input: { id: string; producer: string; drafts: readonly DraftCopy[] }) => {
      const { id, producer, drafts } = input;
      const { rehearsalOf } = await lockOwnStream(tx, id, producer);
      const rows = await quizzesById(
        tx,
        rehearsalOf,
        drafts.map((draft) => draft.id),
      );
      const quizzes = new Map(rows.map((quiz) => [quiz.id, quiz]));
      const copyIds = drafts.map(({ copyId }) => copyId);
      const copied = new Set((await quizzesById(tx, id, copyIds)).map((quiz) => quiz.id));
      const copies = drafts.flatMap((draft) => {
        const quiz = copied.has(draft.copyId) ? undefined : quizzes.get(draft.id);
        return quiz ? [{ id: draft.copyId, quiz: newQuizOf(quiz) }] : [];
      });
      if (copies.length > 0) await addDrafts(tx, id, copies);
    },
  ),

  /** The rehearsal of a show. @throws DomainError `not-found` */
  findRehearsal: readProcedure(
    async (tx, { showId, producer, nowMs }: ShowRef): Promise<RehearsalRow> => {
      await ownStream(tx, showId, producer);
      const row = orNotFound(await current(tx, showId));
      return row.created > nowMs - REHEARSAL_RETENTION_MS ? row : orNotFound(null);
    },
  ),

  /**
   * Dismisses the rehearsal of a show; its data is removed later (`removeRehearsal`).
   * @returns the id of the hidden stream
   * @throws DomainError `not-found`
   */
  dismissRehearsal: writeProcedure(
    async (tx, { showId, producer, nowMs }: ShowRef): Promise<string> => {
      await lockOwnStream(tx, showId, producer);
      const row = orNotFound(await current(tx, showId));
      await dismiss(tx, row, producer, nowMs);
      return row.streamId;
    },
  ),

  /** Saves a node's report. @param isLast whether its viewers have ended */
  reportRehearsal: writeProcedure(
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

/** Whether the rehearsal has viewers, judged by its last report. */
export function isRunning({ ended, seen }: RehearsalRow, nowMs: number): boolean {
  return ended === null && seen >= nowMs - LOST_AFTER_MS;
}

async function current(tx: Tx, showId: string): Promise<RehearsalRow | null> {
  const [row] = await tx.query<StoredRow>(
    `select ${COLUMNS} from rehearsals where show_id = $1 and is_current = 1`,
    [showId],
  );
  return row ? fromRow(row) : null;
}

function orNotFound(row: RehearsalRow | null): RehearsalRow {
  if (!row) throw new DomainError('not-found', 'This show has no rehearsal.');
  return row;
}

/** Ends the hidden stream and detaches it from the show. */
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

/** @throws DomainError `conflict` */
async function checkLimits(tx: Tx, account: string, node: string, nowMs: number): Promise<void> {
  const [counted] = await tx.query<{ ofaccount: number; ofnode: number; here: number }>(
    `select (select count(*) from rehearsals where account = $1 and removed is null) as ofaccount,
       (select count(*) from rehearsals where node = $2 and ${isRunningSql('$3')}) as ofnode,
       (select count(*) from rehearsals
          where node = $2 and account = $1 and ${isRunningSql('$3')}) as here`,
    [account, node, nowMs - LOST_AFTER_MS],
  );
  if (Number(counted?.ofnode) >= REHEARSALS_PER_NODE_MAX) {
    const detail = `This node already runs ${REHEARSALS_PER_NODE_MAX} rehearsals; try again when one is over.`;
    throw new DomainError('conflict', detail);
  }
  if (Number(counted?.here) >= REHEARSALS_PER_NODE_AND_ACCOUNT_MAX) {
    const detail = `Your account already runs ${REHEARSALS_PER_NODE_AND_ACCOUNT_MAX} rehearsals on this node; end one of them.`;
    throw new DomainError('conflict', detail);
  }
  if (Number(counted?.ofaccount) >= REHEARSALS_PER_ACCOUNT_MAX) {
    const detail = 'Earlier rehearsals are still being removed; try again in a few minutes.';
    throw new DomainError('conflict', detail);
  }
}

/** The hidden stream: like the show, but unlisted and without a recording. */
function hiddenStreamOf({ title, dashUrl, hlsUrl, latencyAllowanceMs, showPage }: StreamRow) {
  return {
    title,
    dash_url: dashUrl,
    hls_url: hlsUrl,
    latencyAllowance: latencyAllowanceMs,
    unlisted: true,
    recording: false,
    autoStart: true,
    keepOpen: false,
    ...showPage,
    startsAt: null,
  };
}
