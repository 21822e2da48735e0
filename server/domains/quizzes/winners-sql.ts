import { intervalAt } from '../../../protocol/interval.ts';
import { ROUNDS_MAX } from '../../../protocol/limits.ts';
import type { QuizState } from '../../../protocol/quizzes.ts';
import type { WinnersRound } from '../../../protocol/studio.ts';
import { DomainError } from '../../platform/errors.ts';
import type { DueResult, DueRow } from '../../realtime/feed/due-work.ts';
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
 * The decision on a claim. `won`: also for a repeated claim. `no-round`: also for a late claim. `later`: the
 * transaction has no lookups left; claim again. `refusedBy`: the number of the round that the seat did not win.
 */
export type ClaimDecision = 'won' | 'no-round' | 'later' | { readonly refusedBy: number };

/**
 * Most answers that one transaction looks up, in 0.1 s. The claims of 1,000 seats in a game of 2,000 quizzes took the
 * writer of SQLite 8 s, and exceeded the statement limit of PostgreSQL.
 */
export const CLAIM_LOOKUPS_MAX = 20_000;

/** Quizzes at the start of a long game that refuse most seats, before the rest of it is looked up for the others. */
const SCREENING_QUIZZES = 8;
const NUMBER_MAX = 2 ** 31 - 1;

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

const ROUND_COLUMNS = `id, stream_id as "streamId", state, quizzes, requested, count,
  contact_note as "contactNote",
  (select count(*) from winner_contacts c where c.round = winners_rounds.number) as contacts`;

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
      const quizzes = await tx.query<{ state: QuizState; question: string }>(
        `select q.state as state, q.question as question from quizzes q
         join streams s on s.id = q.stream_id and s.game = q.game where q.stream_id = $1`,
        [input.streamId],
      );
      const rounds = await countRows(tx, 'winners_rounds where stream_id = $1', [input.streamId]);
      if (rounds >= ROUNDS_MAX) {
        throw new DomainError('conflict', `A stream has at most ${ROUNDS_MAX} winners rounds.`);
      }
      const blocker = winnersBlockers(quizzes)[0];
      if (blocker) throw new DomainError('conflict', blocker);
      await recordEvent(tx, input.streamId, 'request-quiz-winners', null);
      await tx.query('update streams set game = game + 1 where id = $1', [input.streamId]);
      await tx.query(
        `insert into winners_rounds (id, number, stream_id, game, quizzes, state, requested)
         select $1, $2, id, game - 1, $3, 'open', $4 from streams where id = $5`,
        [input.id, await nextNumber(tx, 'round'), quizzes.length, input.nowMs, input.streamId],
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
   * Stores a batch of claims; repeated claims of a seat count once. A whole audience claims within a
   * second, so each stream of the batch costs two statements, however many seats. The rounds stay
   * locked, so none closes meanwhile. The rounds of a batch share `CLAIM_LOOKUPS_MAX`.
   * @returns decisions in the order of the claims
   */
  recordWinners: writeProcedure(
    async (tx, claims: readonly WinnerClaim[]): Promise<ClaimDecision[]> => {
      if (claims.length === 0) return [];
      const decisions = new Map<WinnerClaim, ClaimDecision>();
      const claimsByStream = Map.groupBy(claims, ({ streamId }) => streamId);
      const lookups = new LookupBudget();
      // Longest games last: one seat of such a game may take more lookups than its share.
      const rounds = (await lockOpenRounds(tx, claims)).toSorted((a, b) => a.quizzes - b.quizzes);
      for (const [index, round] of rounds.entries()) {
        const inTime = (claimsByStream.get(round.streamId) ?? []).filter((claim) =>
          isInTime(round, claim),
        );
        const isRefused = ({ refusedBy }: WinnerClaim) => refusedBy === round.number;
        const claiming = inTime.filter((claim) => !isRefused(claim)).map(({ seat }) => seat);
        lookups.beginRound(round, rounds.length - index);
        const { decided, qualified } = await decideSeats(tx, round, new Set(claiming), lookups);
        const won = inTime.filter(({ seat }) => qualified.has(seat));
        await tx.insertNew(
          WINNERS,
          won.map(({ seat, receivedMs }) => [round.number, seat, receivedMs]),
        );
        for (const claim of inTime) {
          if (qualified.has(claim.seat)) decisions.set(claim, 'won');
          else if (decided.has(claim.seat) || isRefused(claim)) {
            decisions.set(claim, { refusedBy: round.number });
          } else decisions.set(claim, 'later');
        }
      }
      return claims.map((claim) => decisions.get(claim) ?? 'no-round');
    },
  ),
};

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

/** The lookups that one transaction has left for the rounds of its claims. */
class LookupBudget {
  private left = CLAIM_LOOKUPS_MAX;
  private round = 0;
  private shareOfRound = 0;
  /** The round that may exceed the budget by one seat; otherwise a long game would wait as long as shorter ones use it up. */
  private exceedingRound: number | null = null;

  /** @param rounds the number of rounds that share what is left, with this one */
  beginRound({ number }: OpenRound, rounds: number): void {
    this.round = number;
    this.shareOfRound = this.left / rounds;
  }

  /** @returns how many of these seats may be looked up now */
  take(seats: number, lookupsOfSeat: number): number {
    const share = Math.min(this.left, Math.max(this.shareOfRound, lookupsOfSeat));
    let taken = Math.min(seats, Math.floor(share / lookupsOfSeat));
    if (taken === 0 && seats > 0) {
      this.exceedingRound ??= this.round;
      if (this.exceedingRound === this.round) taken = 1;
    }
    this.left = Math.max(0, this.left - taken * lookupsOfSeat);
    this.shareOfRound -= taken * lookupsOfSeat;
    return taken;
  }
}

/**
 * Decides as many of the claiming seats as the budget allows. In a long game the first quizzes refuse most of
 * them: with 500 lookups for each of 10,000 seats that were wrong at once, up to 7 % got a 503.
 */
async function decideSeats(
  tx: Tx,
  round: OpenRound,
  seats: ReadonlySet<number>,
  lookups: LookupBudget,
): Promise<{ decided: Set<number>; qualified: Set<number> }> {
  const screening = Math.min(round.quizzes, SCREENING_QUIZZES);
  const screened = [...seats].slice(0, lookups.take(seats.size, screening + 1));
  if (screened.length === 0) return { decided: new Set(), qualified: new Set() };
  if (round.quizzes === screening) {
    return { decided: new Set(screened), qualified: await qualifiedSeats(tx, round, screened) };
  }
  const last = await numberOfQuiz(tx, round, screening);
  const passed = await qualifiedSeats(tx, round, screened, { last });
  const checked = [...passed].slice(0, lookups.take(passed.size, round.quizzes - screening + 1));
  const decided = new Set(screened).difference(passed).union(new Set(checked));
  return { decided, qualified: await qualifiedSeats(tx, round, checked, { after: last }) };
}

/** The number of the nth quiz of a game. */
async function numberOfQuiz(tx: Tx, { streamId, game }: OpenRound, nth: number): Promise<number> {
  const [row] = await tx.query<{ number: number }>(
    `select number from quizzes where stream_id = $1 and game = $2 order by number limit 1 offset $3`,
    [streamId, game, nth - 1],
  );
  return row ? Number(row.number) : 0;
}

/**
 * The claiming seats that answered every quiz of the round's game correctly (W-7), or its quizzes with numbers
 * after `after` and up to `last`. It stops at the first quiz
 * that a seat did not answer correctly, and reads no quiz for a repeated claim: counting the right answers of
 * 500 seats in a game of 2,000 quizzes took 0.3 s. A subquery finds the answer, because as a join of two
 * tables PostgreSQL might read all answers.
 */
async function qualifiedSeats(
  tx: Tx,
  { number, streamId, game }: OpenRound,
  seats: readonly number[],
  { after = 0, last = NUMBER_MAX }: { after?: number; last?: number } = {},
): Promise<Set<number>> {
  if (seats.length === 0) return new Set();
  const rows = await tx.query<{ seat: number }>(
    `select seat from ${tx.rows('$3', ['seat integer'])} claimed
     where exists (select 1 from winners w where w.round = $4 and w.seat = claimed.seat)
     or not exists (select 1 from quizzes q where q.stream_id = $1 and q.game = $2
       and q.number > $5 and q.number <= $6 and q.answer is distinct from (select a.choice from answers a where a.quiz = q.number and a.seat = claimed.seat))`,
    [streamId, game, JSON.stringify(seats.map((seat) => [seat])), number, after, last],
  );
  return new Set(rows.map(({ seat }) => seat));
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
