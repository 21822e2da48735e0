import { ARCHIVE_MS, HIDDEN_SENT_MAX } from '../../../protocol/limits.ts';
import type {
  ChatState,
  Restriction,
  StoredChatMessage,
  ViewerChat,
} from '../../../protocol/moderation.ts';
import { lastNumber, nextNumber } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx } from '../../storage/sql/procedure.ts';

/** The state of a chat that was never moderated. */
const UNMODERATED: ChatState = { slowModeMs: 0, paused: false, pinned: null };

/** The state of a stream's chat; `revision` counts changes of its hidden messages, restrictions and questions. */
export interface RevisedChatState extends ChatState {
  readonly revision: number;
}

interface StoredChatState {
  readonly slowModeMs: number;
  readonly paused: number;
  readonly pinned: string | null;
  readonly revision: number;
}

/** The chat state of a stream; the default if it was never moderated. */
export async function readChatState(tx: Tx, streamId: string): Promise<RevisedChatState> {
  const [row] = await tx.query<StoredChatState>(
    `select slow_mode_ms as "slowModeMs", paused, pinned, revision from chat_rooms
     where stream_id = $1`,
    [streamId],
  );
  if (!row) return { ...UNMODERATED, revision: 0 };
  const { slowModeMs, paused, pinned, revision } = row;
  return {
    slowModeMs,
    paused: Boolean(paused),
    pinned: pinned === null ? null : (JSON.parse(pinned) as StoredChatMessage),
    revision: Number(revision),
  };
}

/** Stores the chat state of a stream that this transaction has locked. */
export async function saveChatState(tx: Tx, streamId: string, state: ChatState): Promise<void> {
  await tx.query(
    `insert into chat_rooms (stream_id, slow_mode_ms, paused, pinned) values ($1, $2, $3, $4)
     on conflict (stream_id) do update set slow_mode_ms = excluded.slow_mode_ms,
       paused = excluded.paused, pinned = excluded.pinned`,
    [
      streamId,
      state.slowModeMs,
      Number(state.paused),
      state.pinned === null ? null : JSON.stringify(state.pinned),
    ],
  );
}

/**
 * Makes studio pages reload moderation data of a stream that this transaction has locked.
 * @returns the new revision
 */
export async function incrementRevision(tx: Tx, streamId: string): Promise<number> {
  const [row] = await tx.query<{ revision: number }>(
    `insert into chat_rooms (stream_id, revision, numbered) values ($1, 1, 1)
     on conflict (stream_id) do update set revision = chat_rooms.revision + 1,
       numbered = chat_rooms.numbered + 1
     returning revision`,
    [streamId],
  );
  return Number(row?.revision);
}

/**
 * Makes nodes reload the chat (see `ModerationCache`). Call it last in a transaction: it locks the
 * counter until the commit, so that changes are numbered in commit order.
 */
export async function recordChange(tx: Tx, streamId: string): Promise<void> {
  const changed = await nextNumber(tx, 'moderation');
  await tx.query(
    `insert into chat_rooms (stream_id, changed) values ($1, $2)
     on conflict (stream_id) do update set changed = excluded.changed`,
    [streamId, changed],
  );
}

/** A chat as `ModerationCache` reads it. */
export interface ModeratedChatRow {
  readonly streamId: string;
  readonly changed: number;
  readonly slowModeMs: number;
  readonly paused: boolean;
  readonly revision: number;
  /** Revisions by an earlier version, whose restrictions have no revision. */
  readonly unnumbered: number;
}

/** Some of the changed chats. */
export interface ChangedChats {
  readonly chats: readonly ModeratedChatRow[];
  /** The change number after which the next page begins; null on the last page. */
  readonly next: number | null;
}

/** Restrictions of a stream as `ModerationCache` reads them. */
export interface RestrictionsRow {
  readonly streamId: string;
  readonly kind: Restriction;
  /** The end of each restriction, Unix ms; null: for the whole show, `LIFTED`: lifted. */
  readonly seats: readonly (readonly [seat: number, until: number | null])[];
}

interface RestrictedSeat {
  readonly streamId: string;
  readonly kind: Restriction;
  readonly seat: number;
  readonly until: number | null;
}

/** A stream with the revision up to which its restrictions are known; null: none are. */
export interface KnownRevision {
  readonly streamId: string;
  readonly after: number | null;
}

/** `until` of a lifted restriction. */
export const LIFTED = 0;
/** A node that knows an earlier revision reads all restrictions of the stream. */
export const REVISIONS_READ_MAX = 1_000;
/** How long lifted restrictions stay: longer, because the stream may change while a node reads. */
export const REVISIONS_KEPT = 2 * REVISIONS_READ_MAX;

/**
 * How long after the end of its stream a chat is still moderated: until every node knows that the stream is
 * archived and takes no more posts.
 */
const READ_AFTER_END_MS = ARCHIVE_MS + 300_000;
// With the maximum of 10,000 restrictions each, the thread of SQLite takes 90 ms to read those of a page. They
// reach the event loop as plain numbers; as objects they would block it for as long again.
const PAGE_SIZE = 10;
// Archived chats have the lowest change numbers. A call that skipped 50,000 of them, each with its stream, kept the
// only reader of SQLite busy for 250 ms; with more it exceeded its deadline, and no ban was ever loaded.
const ROWS_EXAMINED_MAX = 300;

export const chatStateProcedures = {
  lastModerationChange: readProcedure((tx) => lastNumber(tx, 'moderation')),

  /** A page of the chats whose change number exceeds `after`, ascending; it may be empty before the last one. */
  changedChats: readProcedure(
    async (tx, { after, nowMs }: { after: number; nowMs: number }): Promise<ChangedChats> => {
      const [end] = await tx.query<{ changed: number }>(
        'select changed from chat_rooms where changed > $1 order by changed limit 1 offset $2',
        [after, ROWS_EXAMINED_MAX - 1],
      );
      const rows = await tx.query<
        Omit<ModeratedChatRow, 'paused'> & Pick<StoredChatState, 'paused'>
      >(
        `select r.stream_id as "streamId", r.changed, r.slow_mode_ms as "slowModeMs", r.paused,
           r.revision, r.revision - r.numbered as unnumbered
         from chat_rooms r join streams s on s.id = r.stream_id
         where r.changed > $1 and r.changed <= $2 and (s.ended is null or s.ended > $3)
         order by r.changed limit $4`,
        [after, end?.changed ?? Number.MAX_SAFE_INTEGER, nowMs - READ_AFTER_END_MS, PAGE_SIZE],
      );
      const chats = rows.map((row) => ({
        streamId: row.streamId,
        changed: Number(row.changed),
        slowModeMs: row.slowModeMs,
        paused: Boolean(row.paused),
        revision: Number(row.revision),
        unnumbered: Number(row.unnumbered),
      }));
      const lastExamined = chats.length < PAGE_SIZE ? end : chats.at(-1);
      return { chats, next: lastExamined ? Number(lastExamined.changed) : null };
    },
  ),

  /** The restrictions of chats that changed after a revision; with null, all that are in effect. */
  changedRestrictions: readProcedure(
    async (
      tx,
      { chats, nowMs }: { chats: readonly KnownRevision[]; nowMs: number },
    ): Promise<RestrictionsRow[]> => {
      const rows = await tx.query<RestrictedSeat>(
        `select v.stream_id as "streamId", v.kind, v.seat, v.until
         from ${tx.rows('$1', ['id text', 'after bigint'])} known
         join restricted_viewers v on v.stream_id = known.id and v.revision > known.after
         where known.after >= 0 or v.until is null or v.until > $2`,
        [JSON.stringify(chats.map(({ streamId, after }) => [streamId, after ?? -1])), nowMs],
      );
      return [...Map.groupBy(rows, ({ streamId }) => streamId)].flatMap(([streamId, restricted]) =>
        [...Map.groupBy(restricted, ({ kind }) => kind)].map(([kind, seats]) => ({
          ...{ streamId, kind },
          seats: seats.map(({ seat, until }) => [seat, until] as const),
        })),
      );
    },
  ),
};

export async function viewersChat(tx: Tx, streamId: string): Promise<Omit<ViewerChat, 'recent'>> {
  const { slowModeMs, paused, pinned, revision } = await readChatState(tx, streamId);
  const hidden = revision === 0 ? [] : await newestHidden(tx, streamId);
  return { slow_mode_ms: slowModeMs, paused, pinned, hidden };
}

async function newestHidden(tx: Tx, streamId: string): Promise<string[]> {
  const rows = await tx.query<{ line: string }>(
    'select line from hidden_lines where stream_id = $1 order by number desc limit $2',
    [streamId, HIDDEN_SENT_MAX],
  );
  return rows.map(({ line }) => line);
}
