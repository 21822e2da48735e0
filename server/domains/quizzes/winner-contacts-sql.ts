import {
  CONTACT_ROUNDS_SEARCHED,
  CONTACTS_SENT_MAX,
  ROUNDS_ASKING_MAX,
} from '../../../protocol/limits.ts';
import type { WinnersRound } from '../../../protocol/studio.ts';
import type { OwnContact, WinnerContact } from '../../../protocol/winner-contacts.ts';
import { DomainError } from '../../platform/errors.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { countRows } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { lockOwnStream, type OwnStream, ownStream } from '../streams/streams-sql.ts';
import { findRound } from './winners-sql.ts';

/** Contact details that one transaction erases. */
export const ERASED_AT_ONCE = 5_000;

interface RoundRef extends OwnStream {
  readonly roundId: string;
}

interface SeatRef {
  readonly streamId: string;
  readonly seat: number;
}

interface NewContact extends SeatRef {
  readonly roundId: string;
  readonly name: string;
  readonly contact: string;
  readonly nowMs: number;
}

/** Contact details as stored. */
export interface StoredContact extends Omit<WinnerContact, 'code'> {
  readonly seat: number;
}

interface OwnContactRow {
  readonly roundId: string;
  readonly note: string;
  readonly name: string | null;
  readonly contact: string | null;
}

export const winnerContactProcedures = {
  /**
   * Asks the winners of a round for contact details, or changes the note; viewers get an event.
   * @throws DomainError `not-found`; `conflict` while the round is open, or when too many rounds ask
   */
  requestContacts: writeProcedure(
    async (tx, input: RoundRef & { note: string }): Promise<WinnersRound> => {
      const { streamId, roundId, note } = input;
      await lockOwnStream(tx, streamId, input.producer);
      const round = await requireRound(tx, streamId, roundId);
      if (round.state === 'open') {
        throw new DomainError('conflict', 'The round is open; wait a second for its winners.');
      }
      if (round.contactNote === note) return round;
      if (round.contactNote === null) await assertCanAsk(tx, streamId);
      await setNote(tx, roundId, note);
      await recordEvent(tx, streamId, 'winner-contact', { roundId });
      return { ...round, contactNote: note };
    },
  ),

  /** Stops asking; what was sent stays. @throws DomainError `not-found` */
  endContactRequest: writeProcedure(async (tx, input: RoundRef): Promise<void> => {
    await lockOwnStream(tx, input.streamId, input.producer);
    await requireRound(tx, input.streamId, input.roundId);
    await setNote(tx, input.roundId, null);
  }),

  /** The contact details of a round, newest first, at most 1,000. @throws DomainError `not-found` */
  listContacts: readProcedure(async (tx, input: RoundRef): Promise<StoredContact[]> => {
    await ownStream(tx, input.streamId, input.producer);
    await requireRound(tx, input.streamId, input.roundId);
    const rows = await tx.query<StoredContact>(
      `select s.viewer as viewer, c.seat as seat, c.name as name, c.contact as contact,
         c.created as at
       from (select seat, name, contact, created from winner_contacts
         where round = (select number from winners_rounds where id = $1)
         order by created desc, seat limit $2) c
       join seats s on s.stream_id = $3 and s.seat = c.seat
       order by c.created desc, c.seat`,
      [input.roundId, CONTACTS_SENT_MAX, input.streamId],
    );
    return [...rows];
  }),

  /**
   * Stops asking and erases a batch of the contact details of a round: 600,000 at once took the writer of
   * SQLite 3 s, and exceeded the statement limit of PostgreSQL.
   * @returns whether there may be more
   * @throws DomainError `not-found`
   */
  eraseContacts: writeProcedure(async (tx, input: RoundRef): Promise<boolean> => {
    await lockOwnStream(tx, input.streamId, input.producer);
    await requireRound(tx, input.streamId, input.roundId);
    // Waits for details that are being stored; those that are sent later find no note.
    const [round] = await tx.query<{ number: number }>(
      `select number from winners_rounds where id = $1 ${tx.locks.exclusive}`,
      [input.roundId],
    );
    const number = Number(round?.number);
    await setNote(tx, input.roundId, null);
    const [last] = await tx.query<{ seat: number }>(
      'select seat from winner_contacts where round = $1 order by seat limit 1 offset $2',
      [number, ERASED_AT_ONCE - 1],
    );
    if (last) {
      const batch = 'delete from winner_contacts where round = $1 and seat <= $2';
      await tx.query(batch, [number, last.seat]);
    } else await tx.query('delete from winner_contacts where round = $1', [number]);
    return last !== undefined;
  }),

  /** Erases the contact details of a winner. @throws DomainError `not-found` */
  eraseContact: writeProcedure(async (tx, input: RoundRef & { viewer: string }): Promise<void> => {
    const { streamId, roundId, viewer } = input;
    await lockOwnStream(tx, streamId, input.producer);
    await requireRound(tx, streamId, roundId);
    const { affected } = await tx.query(
      `delete from winner_contacts where round = (select number from winners_rounds where id = $1)
       and seat = (select seat from seats where stream_id = $2 and viewer = $3)`,
      [roundId, streamId, viewer],
    );
    if (affected === 0) throw new DomainError('not-found', 'There are no such contact details.');
  }),

  /** What a viewer is asked, what it sent, and whether details of it are stored. */
  readOwnContact: readProcedure(async (tx, ref: SeatRef): Promise<OwnContact> => {
    const request = await findRequest(tx, ref);
    return { request, hasDetails: Boolean(request?.details) || (await hasDetails(tx, ref)) };
  }),

  /**
   * Stores the contact details of a winner in place of earlier ones. It throws nothing for a viewer who is not
   * asked: anybody may try, and an error makes SQLite run all calls of its commit again.
   * @returns whether the viewer is a winner who is asked
   */
  saveOwnContact: writeProcedure(async (tx, input: NewContact): Promise<boolean> => {
    const { streamId, seat, roundId, name, contact, nowMs } = input;
    const [round] = await tx.query<{ number: number }>(
      `select r.number as number from winners_rounds r
       where r.id = $1 and r.stream_id = $2 and r.contact_note is not null
       and exists (select 1 from winners w where w.round = r.number and w.seat = $3)
       ${tx.locks.share}`,
      [roundId, streamId, seat],
    );
    if (!round) return false;
    await tx.query(
      `insert into winner_contacts (round, seat, name, contact, created)
       values ($1, $2, $3, $4, $5)
       on conflict (round, seat) do update set name = excluded.name, contact = excluded.contact,
         created = excluded.created`,
      [round.number, seat, name, contact, nowMs],
    );
    return true;
  }),

  /**
   * Erases what a viewer sent in this stream. It searches each round of the stream, because other streams have
   * the same seat numbers: 1 µs for a round.
   */
  eraseOwnContact: writeProcedure(async (tx, { streamId, seat }: SeatRef): Promise<void> => {
    const rounds = await tx.query<{ number: number }>(
      `select number from winners_rounds r where stream_id = $1 and
       (select c.seat from winner_contacts c where c.round = r.number and c.seat = $2) is not null`,
      [streamId, seat],
    );
    if (rounds.length === 0) return;
    await tx.query(
      `delete from winner_contacts where seat = $1
       and round in (select number from ${tx.rows('$2', ['number integer'])} own)`,
      [seat, JSON.stringify(rounds.map(({ number }) => [number]))],
    );
  }),
};

/**
 * What a viewer is asked, and what it sent. For a viewer that won nothing it searches the winners of each
 * asking round: 2,000 took the only reader of SQLite 3 to 6 ms. It reads the newest, because earlier builds
 * had no limit. A subquery finds the winner, because for a join PostgreSQL may read all winners.
 */
async function findRequest(tx: Tx, { streamId, seat }: SeatRef): Promise<OwnContact['request']> {
  const [row] = await tx.query<OwnContactRow>(
    `select r.id as "roundId", r.note as note, c.name as name, c.contact as contact
     from (select id, number, note
       from (select id, number, contact_note as note from winners_rounds
         where stream_id = $1 and contact_note is not null order by number desc limit $3) asking
       where (select w.seat from winners w where w.round = asking.number and w.seat = $2) is not null
       order by number desc limit 1) r
     left join winner_contacts c on c.round = r.number and c.seat = $2`,
    [streamId, seat, ROUNDS_ASKING_MAX],
  );
  if (!row) return null;
  const { roundId, note, name, contact } = row;
  const details = name === null || contact === null ? null : { name, contact };
  return { roundId, note, details };
}

/**
 * Whether details of a viewer are stored for one of the newest rounds, asked or not. No index has stream and
 * seat, and any viewer reads this: a search of 2,000 rounds takes the only reader of SQLite 1.6 ms, of 100
 * rounds 0.03 ms.
 */
async function hasDetails(tx: Tx, { streamId, seat }: SeatRef): Promise<boolean> {
  const rows = await tx.query(
    `select number from (select number from winners_rounds
       where stream_id = $1 order by number desc limit $3) newest
     where (select c.seat from winner_contacts c where c.round = newest.number and c.seat = $2) is not null
     limit 1`,
    [streamId, seat, CONTACT_ROUNDS_SEARCHED],
  );
  return rows.length > 0;
}

/** @throws DomainError `conflict` when `ROUNDS_ASKING_MAX` rounds of the stream ask */
async function assertCanAsk(tx: Tx, streamId: string): Promise<void> {
  const asking = 'winners_rounds where stream_id = $1 and contact_note is not null';
  if ((await countRows(tx, asking, [streamId])) < ROUNDS_ASKING_MAX) return;
  throw new DomainError(
    'conflict',
    `${ROUNDS_ASKING_MAX} rounds ask for contact details; end the request of one first.`,
  );
}

async function requireRound(tx: Tx, streamId: string, roundId: string): Promise<WinnersRound> {
  const round = await findRound(tx, streamId, roundId);
  if (!round) throw new DomainError('not-found', 'The stream has no such winners round.');
  return round;
}

async function setNote(tx: Tx, roundId: string, note: string | null): Promise<void> {
  await tx.query('update winners_rounds set contact_note = $2 where id = $1', [roundId, note]);
}
