import { HIDDEN_TOLD } from '../../../protocol/limits.ts';
import type {
  ChatState,
  KeptLine,
  Restriction,
  ViewersChat,
} from '../../../protocol/moderation.ts';
import { nextNumber } from '../../storage/sql/counters.ts';
import { reading, type Tx } from '../../storage/sql/procedure.ts';

/** How a chat goes that nobody has moderated. */
const UNTOUCHED: ChatState = { slowModeMs: 0, paused: false, pinned: null };

/** How the chat of a stream goes, and how often what is kept beside that has changed. */
export interface ChatRoom extends ChatState {
  readonly revision: number;
}

interface StoredRoom {
  readonly slowModeMs: number;
  readonly paused: number;
  readonly pinned: string | null;
  readonly revision: number;
}

export async function chatRoom(tx: Tx, streamId: string): Promise<ChatRoom> {
  const [row] = await tx.query<StoredRoom>(
    `select slow_mode_ms as "slowModeMs", paused, pinned, revision from chat_rooms
     where stream_id = $1`,
    [streamId],
  );
  if (!row) return { ...UNTOUCHED, revision: 0 };
  const { slowModeMs, paused, pinned, revision } = row;
  return {
    slowModeMs,
    paused: Boolean(paused),
    pinned: pinned === null ? null : (JSON.parse(pinned) as KeptLine),
    revision: Number(revision),
  };
}

/** Keeps how the chat goes of a stream that this transaction has locked. */
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

/** What pages read again has changed, in a stream that this transaction has locked. */
export async function pagesReadAgain(tx: Tx, streamId: string): Promise<void> {
  await tx.query(
    `insert into chat_rooms (stream_id, revision) values ($1, 1)
     on conflict (stream_id) do update set revision = chat_rooms.revision + 1`,
    [streamId],
  );
}

/**
 * What nodes go by has changed. Changes are numbered in the order in which they are committed, since
 * nobody else gets a number before this transaction ends: it is the last that one does.
 */
export async function nodesReadAgain(tx: Tx, streamId: string): Promise<void> {
  const changed = await nextNumber(tx, 'moderation');
  await tx.query(
    `insert into chat_rooms (stream_id, changed) values ($1, $2)
     on conflict (stream_id) do update set changed = excluded.changed`,
    [streamId, changed],
  );
}

/** A chat as nodes know it. */
export interface KnownRoom {
  readonly streamId: string;
  /** The number of its last change. */
  readonly changed: number;
  readonly slowModeMs: number;
  readonly paused: boolean;
  /** Seats. */
  readonly banned: readonly number[];
  /** Seats, with the Unix ms until when; null: for the whole show. */
  readonly muted: readonly (readonly [seat: number, until: number | null])[];
}

interface RestrictedSeat {
  readonly streamId: string;
  readonly kind: Restriction;
  readonly seat: number;
  readonly until: number | null;
}

/** How long after its end a show is still kept in order. */
const AFTERMATH_MS = 24 * 3600_000;
// With 10,000 restrictions each, which is the most, SQLite's thread takes 90 ms for so many. What comes
// of them to the event loop is numbers: objects for each would hold it up for as long again.
const ROOMS_AT_ONCE = 10;

export const chatRoomProcedures = {
  /** The number of the last change of any chat. */
  lastModeration: reading(async (tx): Promise<number> => {
    const [row] = await tx.query<{ value: number }>(
      "select value from counters where name = 'moderation'",
    );
    return Number(row?.value);
  }),

  /** The chats that changed after a change, oldest change first; fewer than all when they are many. */
  changedRooms: reading(
    async (tx, { after, nowMs }: { after: number; nowMs: number }): Promise<KnownRoom[]> => {
      const rooms = await tx.query<Omit<StoredRoom, 'pinned'> & KnownRoom>(
        `select r.stream_id as "streamId", r.changed, r.slow_mode_ms as "slowModeMs", r.paused
         from chat_rooms r join streams s on s.id = r.stream_id
         where r.changed > $1 and (s.ended is null or s.ended > $2)
         order by r.changed limit $3`,
        [after, nowMs - AFTERMATH_MS, ROOMS_AT_ONCE],
      );
      const seats = Map.groupBy(await restrictedSeats(tx, rooms, nowMs), (seat) => seat.streamId);
      return rooms.map(({ streamId, changed, slowModeMs, paused }) => ({
        streamId,
        changed: Number(changed),
        slowModeMs,
        paused: Boolean(paused),
        ...sortedOut(seats.get(streamId) ?? []),
      }));
    },
  ),
};

/** How the chat of a stream goes, for a viewer. */
export async function viewersChat(tx: Tx, streamId: string): Promise<ViewersChat> {
  const { slowModeMs, paused, pinned, revision } = await chatRoom(tx, streamId);
  const hidden = revision === 0 ? [] : await newestHidden(tx, streamId);
  return { slow_mode_ms: slowModeMs, paused, pinned, hidden };
}

function sortedOut(seats: readonly RestrictedSeat[]): Pick<KnownRoom, 'banned' | 'muted'> {
  const banned: number[] = [];
  const muted: [number, number | null][] = [];
  for (const { kind, seat, until } of seats) {
    if (kind === 'banned') banned.push(seat);
    else muted.push([seat, until]);
  }
  return { banned, muted };
}

async function restrictedSeats(
  tx: Tx,
  rooms: readonly { readonly streamId: string }[],
  nowMs: number,
): Promise<readonly RestrictedSeat[]> {
  if (rooms.length === 0) return [];
  return tx.query(
    `select stream_id as "streamId", kind, seat, until from restricted_viewers
     where stream_id in (select id from ${tx.rows('$1', ['id text'])} asked)
       and (until is null or until > $2)`,
    [JSON.stringify(rooms.map(({ streamId }) => [streamId])), nowMs],
  );
}

async function newestHidden(tx: Tx, streamId: string): Promise<string[]> {
  const rows = await tx.query<{ line: string }>(
    'select line from hidden_lines where stream_id = $1 order by number desc limit $2',
    [streamId, HIDDEN_TOLD],
  );
  return rows.map(({ line }) => line);
}
