import { intervalAt } from '../../../protocol/interval.ts';
import {
  CONTACTS_SENT_MAX,
  ROUNDS_MAX,
  WINNERS_PROLONGED_INTERVALS,
  WINNERS_PROLONGED_MAX_MS,
  WINNERS_REPEATED_INTERVALS,
} from '../../../protocol/limits.ts';
import type { QuizState } from '../../../protocol/quizzes.ts';
import type { WinnersRound } from '../../../protocol/studio.ts';
import { DomainError } from '../../platform/errors.ts';
import type { DueResult, DueRow, SealTime } from '../../realtime/feed/due-work.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { countRows, nextNumber } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { lockOwnStream, type OwnStream, ownStream } from '../streams/streams-sql.ts';
import type { WebhookEvent } from '../webhooks/webhook-events.ts';
import { winnersBlockers } from './quiz-rules.ts';

/** A viewer's report that it won; `receivedMs` is the Unix ms of arrival. */
export interface WinnerClaim {
  readonly streamId: string;
  readonly seat: number;
  readonly receivedMs: number;
  /** The number of the round that refused this seat before. It refuses it again without a lookup. */
  readonly refusedBy?: number | undefined;
}

/**
 * The decision on a claim. `won`: also for a repeated claim, until 10 s after the round. `no-round`: also for a late
 * claim. `later`: the transaction has no time left; claim again. `refusedBy`: the number of the round that the seat
 * did not win.
 */
export type ClaimDecision = 'won' | 'no-round' | 'later' | { readonly refusedBy: number };

/**
 * After this time a transaction decides no further claims: those of 1,000 seats in a game of 2,000 quizzes took the
 * writer of SQLite 8 s, and exceeded the statement limit of PostgreSQL. A time and not a number, because most
 * losing claims fail at an early quiz and cost little.
 */
const CLAIMS_MS = 75;
/** Lookups between two checks of the time, over all rounds: 25 ms. */
const LOOKUPS_AT_ONCE = 5_000;
/** Claims whose ages differ by less count as equally old. */
const AGE_MS = 100;

interface OpenRound {
  readonly number: number;
  /** The number of quizzes of its game. */
  readonly quizzes: number;
  readonly streamId: string;
  readonly game: number;
  /** The interval that publishes the count; null until the request for winners is sealed. */
  readonly dueInterval: number | null;
}

const WINNERS = {
  name: 'winners',
  columns: ['round integer', 'seat integer', 'received bigint'],
  keyColumns: 2,
};

/** The count of contact details has a limit: 5 million took the only reader of SQLite 0.3 s for each read of a list. */
const ROUND_COLUMNS = `id, stream_id as "streamId", state, quizzes, requested, count,
  contact_note as "contactNote",
  (select count(*) from (select 1 from winner_contacts c where c.round = winners_rounds.number
     limit ${CONTACTS_SENT_MAX}) counted) as contacts`;

const fromRow = (row: WinnersRound): WinnersRound => ({ ...row, contacts: Number(row.contacts) });

/** The last round of a stream; null when there is none. */
export async function latestRound(tx: Tx, streamId: string): Promise<WinnersRound | null> {
  const [row] = await tx.query<WinnersRound>(
    `select ${ROUND_COLUMNS} from winners_rounds where stream_id = $1 order by number desc limit 1`,
    [streamId],
  );
  return row ? fromRow(row) : null;
}

/** A round of a stream; null when there is none with this id. */
export async function findRound(
  tx: Tx,
  streamId: string,
  id: string,
): Promise<WinnersRound | null> {
  const [row] = await tx.query<WinnersRound>(
    `select ${ROUND_COLUMNS} from winners_rounds where stream_id = $1 and id = $2`,
    [streamId, id],
  );
  return row ? fromRow(row) : null;
}

export const winnersProcedures = {
  /**
   * Opens a round over the quizzes of the current game and begins the next game.
   * @throws DomainError `conflict` while a round is open, or a quiz of the game is not revealed:
   *   the reply to a winner report would give away its answer (I-6); or the stream has too many rounds
   */
  requestWinners: writeProcedure(
    async (tx, input: OwnStream & { id: string; nowMs: number }): Promise<WinnersRound> => {
      const stream = await lockOwnStream(tx, input.streamId, input.producer);
      if (stream.status === 'ENDED') throw new DomainError('conflict', 'The stream has ended.');
      const [round] = await tx.query(
        `select number from winners_rounds where stream_id = $1 and state = 'open'`,
        [input.streamId],
      );
      if (round) {
        throw new DomainError('conflict', 'A winners round is open; wait a second for its count.');
      }
      // Each from an index, without the rows: those of 2,000 quizzes took 27 ms with their texts.
      const [game] = await tx.query<{ quizzes: number; blocking: number | null }>(
        `select (select count(*) from quizzes q where q.stream_id = s.id and q.game = s.game) as quizzes,
           (select min(q.number) from quizzes q
            where q.stream_id = s.id and q.game = s.game and q.state <> 'revealed') as blocking
         from streams s where s.id = $1`,
        [input.streamId],
      );
      const rounds = await countRows(tx, 'winners_rounds where stream_id = $1', [input.streamId]);
      if (rounds >= ROUNDS_MAX) {
        throw new DomainError('conflict', `A stream has at most ${ROUNDS_MAX} winners rounds.`);
      }
      const blocking = await tx.query<{ state: QuizState; question: string }>(
        'select state, question from quizzes where number = $1',
        [game?.blocking ?? null],
      );
      const blocker = winnersBlockers(blocking)[0];
      if (blocker) throw new DomainError('conflict', blocker);
      await recordEvent(tx, input.streamId, 'request-quiz-winners', null);
      await tx.query('update streams set game = game + 1 where id = $1', [input.streamId]);
      await tx.query(
        `insert into winners_rounds (id, number, stream_id, game, quizzes, state, requested)
         select $1, $2, id, game - 1, $3, 'open', $4 from streams where id = $5`,
        [
          input.id,
          await nextNumber(tx, 'round'),
          Number(game?.quizzes),
          input.nowMs,
          input.streamId,
        ],
      );
      const created = await findRound(tx, input.streamId, input.id);
      if (!created) throw new Error('the round was not stored');
      return created;
    },
  ),

  listWinnersRounds: readProcedure(async (tx, { streamId, producer }: OwnStream) => {
    await ownStream(tx, streamId, producer);
    const rows = await tx.query<WinnersRound>(
      `select ${ROUND_COLUMNS} from winners_rounds where stream_id = $1 order by number`,
      [streamId],
    );
    return rows.map(fromRow);
  }),

  /**
   * Stores a batch of claims; repeated claims of a seat count once (W-10). A whole audience claims within a
   * second, so a short game costs two statements, however many seats. The rounds stay locked, so none
   * closes meanwhile. The rounds of a batch share `CLAIMS_MS`.
   * @returns decisions in the order of the claims
   */
  recordWinners: writeProcedure(
    async (tx, claims: readonly WinnerClaim[]): Promise<ClaimDecision[]> => {
      if (claims.length === 0) return [];
      const decisions = new Map<WinnerClaim, ClaimDecision>();
      const rounds = claimedRounds(await lockOpenRounds(tx, claims), claims);
      // After the locks, for which it may wait longer.
      const endMs = tx.monotonicMs() + CLAIMS_MS;
      let left = rounds.filter(({ seats }) => seats.length > 0).length;
      const winners: number[][] = [];
      for (const { round, inTime, seats } of rounds) {
        const { decided, qualified } = await decideSeats(tx, round, seats, endMs, left);
        if (seats.length > 0) left--;
        for (const claim of inTime) {
          const { seat, receivedMs, refusedBy } = claim;
          if (qualified.has(seat)) {
            winners.push([round.number, seat, receivedMs]);
            decisions.set(claim, 'won');
          } else if (decided.has(seat) || refusedBy === round.number) {
            decisions.set(claim, { refusedBy: round.number });
          } else decisions.set(claim, 'later');
        }
      }
      // In one statement, which inserts in the order of the keys, so that two batches cannot deadlock.
      await tx.insertNew(WINNERS, winners);
      const late = claims.filter((claim) => !decisions.has(claim));
      for (const claim of await countedBefore(tx, late)) decisions.set(claim, 'won');
      return claims.map((claim) => decisions.get(claim) ?? 'no-round');
    },
  ),
};

interface ClaimedRound {
  readonly round: OpenRound;
  /** The claims in time, the oldest first. */
  readonly inTime: readonly WinnerClaim[];
  /** The seats to look up: those that the round did not refuse before. */
  readonly seats: readonly number[];
}

/**
 * The rounds with their claims. Those whose claims wait for longer are first, so that each has its turn, and then
 * short games: what they leave of the time is for the long ones.
 */
function claimedRounds(
  rounds: readonly OpenRound[],
  claims: readonly WinnerClaim[],
): ClaimedRound[] {
  const byStream = Map.groupBy(
    claims.toSorted((a, b) => a.receivedMs - b.receivedMs),
    ({ streamId }) => streamId,
  );
  const claimed = rounds.map((round) => {
    const inTime = (byStream.get(round.streamId) ?? []).filter((claim) => isInTime(round, claim));
    const undecided = inTime.filter(({ refusedBy }) => refusedBy !== round.number);
    const age = Math.floor((undecided[0]?.receivedMs ?? 0) / AGE_MS);
    return { round, inTime, age, seats: [...new Set(undecided.map(({ seat }) => seat))] };
  });
  return claimed.toSorted((a, b) => a.age - b.age || a.round.quizzes - b.round.quizzes);
}

/**
 * Decides seats of a round in their order, a few at a time, in its share of the time. It makes one statement even
 * if its share is shorter, and none after `endMs`.
 * @param endMs when the time of all rounds ends, on the clock of the transaction
 * @param rounds the number of rounds that share the rest of it, with this one
 */
async function decideSeats(
  tx: Tx,
  round: OpenRound,
  seats: readonly number[],
  endMs: number,
  rounds: number,
): Promise<{ decided: Set<number>; qualified: Set<number> }> {
  const qualified = new Set<number>();
  const atOnce = Math.max(1, Math.floor(LOOKUPS_AT_ONCE / rounds / (round.quizzes + 1)));
  let nowMs = tx.monotonicMs();
  const shareEndMs = nowMs + (endMs - nowMs) / rounds;
  let next = 0;
  while (next < seats.length && nowMs < shareEndMs) {
    const some = seats.slice(next, next + atOnce);
    for (const seat of await qualifiedSeats(tx, round, some)) qualified.add(seat);
    next += some.length;
    nowMs = tx.monotonicMs();
  }
  return { decided: new Set(seats.slice(0, next)), qualified };
}

/**
 * Locks and returns the open rounds for which one of these claims may be in time, in the order of their
 * numbers. A late claim locks no round; otherwise late claims could delay the close forever.
 */
function lockOpenRounds(tx: Tx, claims: readonly WinnerClaim[]): Promise<readonly OpenRound[]> {
  const streamIds = new Set(claims.map(({ streamId }) => streamId));
  const firstMs = Math.min(...claims.map(({ receivedMs }) => receivedMs));
  return tx.query<OpenRound>(
    `select number, quizzes, stream_id as "streamId", game, due_interval as "dueInterval"
     from winners_rounds
     where stream_id in (select stream_id from ${tx.rows('$1', ['stream_id text'])} claimed)
     and state = 'open' and (due_interval is null or due_interval >= $2)
     order by number ${tx.locks.share}`,
    [JSON.stringify([...streamIds].map((streamId) => [streamId])), intervalAt(firstMs)],
  );
}

/** Whether the claim arrived before the end of the interval that publishes the count (W-4). */
function isInTime({ dueInterval }: OpenRound, { receivedMs }: WinnerClaim): boolean {
  return dueInterval === null || intervalAt(receivedMs) <= dueInterval;
}

/**
 * The claiming seats that answered every quiz of the round's game correctly (W-7). It stops at the first quiz
 * that a seat did not answer correctly, and reads no quiz for a repeated claim: counting the right answers of
 * 500 seats in a game of 2,000 quizzes took 0.3 s. A subquery finds the answer, because as a join of two
 * tables PostgreSQL might read all answers.
 */
async function qualifiedSeats(
  tx: Tx,
  { number, streamId, game }: OpenRound,
  seats: readonly number[],
): Promise<number[]> {
  const rows = await tx.query<{ seat: number }>(
    `select seat from ${tx.rows('$3', ['seat integer'])} claimed
     where exists (select 1 from winners w where w.round = $4 and w.seat = claimed.seat)
     or not exists (select 1 from quizzes q where q.stream_id = $1 and q.game = $2 and q.answer is distinct
       from (select a.choice from answers a where a.quiz = q.number and a.seat = claimed.seat))`,
    [streamId, game, JSON.stringify(seats.map((seat) => [seat])), number],
  );
  return rows.map(({ seat }) => seat);
}

/**
 * The claims of seats that the last round of their stream has counted, for `WINNERS_REPEATED_INTERVALS` after it
 * (W-10): the response may be lost with a connection.
 */
async function countedBefore(
  tx: Tx,
  claims: readonly WinnerClaim[],
): Promise<readonly WinnerClaim[]> {
  if (claims.length === 0) return [];
  const streamIds = new Set(claims.map(({ streamId }) => streamId));
  const rounds = await tx.query<Pick<OpenRound, 'number' | 'streamId' | 'dueInterval'>>(
    `select number, stream_id as "streamId", due_interval as "dueInterval" from winners_rounds
     where number in (select (select max(r.number) from winners_rounds r where r.stream_id = claimed.stream_id)
       from ${tx.rows('$1', ['stream_id text'])} claimed)`,
    [JSON.stringify([...streamIds].map((streamId) => [streamId]))],
  );
  const roundOf = new Map(rounds.map((round) => [round.streamId, round]));
  const repeated = claims.filter(({ streamId, receivedMs }) => {
    const lastInterval = (roundOf.get(streamId)?.dueInterval ?? 0) + WINNERS_REPEATED_INTERVALS;
    return intervalAt(receivedMs) <= lastInterval;
  });
  if (repeated.length === 0) return [];
  const counted = await tx.query<{ round: number; seat: number }>(
    `select round, seat from winners where (round, seat) in
     (select round, seat from ${tx.rows('$1', ['round integer', 'seat integer'])} repeated)`,
    [JSON.stringify(repeated.map(({ streamId, seat }) => [roundOf.get(streamId)?.number, seat]))],
  );
  const keys = new Set(counted.map(({ round, seat }) => `${round} ${seat}`));
  return repeated.filter(({ streamId, seat }) =>
    keys.has(`${roundOf.get(streamId)?.number} ${seat}`),
  );
}

/**
 * Gives the viewers of rounds that were open while no interval was sealed time to report again (W-5). With a restart
 * of 1.9 s, 3 of 20 winners were counted without it.
 */
export async function prolongRounds(tx: Tx, { interval, skipped, nowMs }: SealTime): Promise<void> {
  await tx.query(
    `update winners_rounds set due_interval = $2 where number in
     (select number from winners_rounds
      where state = 'open' and due_interval > $1 and due_interval < $2 and requested > $3
      order by number ${tx.locks.claim})`,
    [
      interval - skipped - 1,
      interval + WINNERS_PROLONGED_INTERVALS,
      nowMs - WINNERS_PROLONGED_MAX_MS,
    ],
  );
}

/**
 * Closes and counts due rounds. It skips a round whose claims are being stored, which stays due;
 * claims stored later find the round closed.
 * @returns a `quiz-winners` event and a webhook event for each closed round
 */
export async function closeRounds(
  tx: Tx,
  due: readonly DueRow[],
): Promise<DueResult<WebhookEvent>> {
  const rounds = await tx.query<{ number: number; id: string; streamId: string }>(
    `select number, id, stream_id as "streamId" from winners_rounds where number in
     (select number from ${tx.rows('$1', ['number integer'])} due)
     order by number ${tx.locks.settle}`,
    [JSON.stringify(due.map(({ number }) => [number]))],
  );
  if (rounds.length === 0) return { results: [], domainEvents: [] };
  // This statement follows the lock, so it sees every claim that was stored before.
  const counted = await tx.query<{ round: number; n: number }>(
    `select round, count(*) as n from winners where round in
     (select number from ${tx.rows('$1', ['number integer'])} due) group by round`,
    [JSON.stringify(rounds.map(({ number }) => [number]))],
  );
  const countOf = new Map(counted.map(({ round, n }) => [round, Number(n)]));
  const closed = rounds.map((round) => ({ ...round, count: countOf.get(round.number) ?? 0 }));
  await tx.query(
    `update winners_rounds set state = 'closed', count = closed.count
     from ${tx.rows('$1', ['number integer', 'count integer'])} closed
     where winners_rounds.number = closed.number`,
    [JSON.stringify(closed.map(({ number, count }) => [number, count]))],
  );
  return {
    results: closed.map(({ streamId, count }) => {
      return { streamId, type: 'quiz-winners', data: JSON.stringify({ count }) };
    }),
    domainEvents: closed.map(({ id, streamId, count }) => {
      return { type: 'winners', streamId, key: id, data: { streamId, roundId: id, count } };
    }),
  };
}

/**
 * Sets the due interval of rounds whose requests were just sealed. The subquery finds the open round of each
 * stream by its index. As one condition on rounds, PostgreSQL read the list once for each open round while its
 * statistics knew of none: after an outage of Redis with 6,000 requests, sealing resumed 3.9 s later.
 */
export async function startRoundDelays(
  tx: Tx,
  streamIds: readonly string[],
  dueInterval: number,
): Promise<void> {
  if (streamIds.length === 0) return;
  await tx.query(
    `update winners_rounds set due_interval = $2
     where number in (select (select r.number from winners_rounds r
         where r.stream_id = requested.stream_id and r.state = 'open' and r.due_interval is null)
       from ${tx.rows('$1', ['stream_id text'])} requested)`,
    [JSON.stringify(streamIds.map((streamId) => [streamId])), dueInterval],
  );
}
