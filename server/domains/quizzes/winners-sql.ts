import { intervalAt } from '../../../protocol/interval.ts';
import type { QuizState } from '../../../protocol/quizzes.ts';
import type { WinnersRound } from '../../../protocol/studio.ts';
import { Refusal } from '../../platform/errors.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { nextNumber } from '../../storage/sql/counters.ts';
import { reading, type Tx, writing } from '../../storage/sql/procedure.ts';
import { lockOwnStream, ownStream } from '../streams/streams-sql.ts';
import { gameBlockers } from './quiz-rules.ts';
import type { Closed } from './quizzes-sql.ts';

/** A viewer who says to have won: Unix ms of arrival. */
export interface WinnerClaim {
  readonly streamId: string;
  readonly seat: number;
  readonly receivedMs: number;
}

/** What became of a claim: `won` is a yes, again or for the first time. */
export type ClaimDecision = 'won' | 'not-qualified' | 'no-round';

interface OpenRound {
  readonly number: number;
  readonly streamId: string;
  readonly game: number;
  readonly quizzes: number;
  /** The interval that tells its count; null until its request is in an interval. */
  readonly dueInterval: number | null;
}

const WINNERS = {
  name: 'winners',
  columns: ['round integer', 'seat integer', 'received bigint'],
  keyColumns: 2,
};

const ROUND_COLUMNS = `id, stream_id as "streamId", state, quizzes, requested, count`;

/** The round of a stream that was asked for last; null when none was. */
export async function latestRound(tx: Tx, streamId: string): Promise<WinnersRound | null> {
  const [row] = await tx.query<WinnersRound>(
    `select ${ROUND_COLUMNS} from winners_rounds where stream_id = $1 order by number desc limit 1`,
    [streamId],
  );
  return row ?? null;
}

export const winnersProcedures = {
  /**
   * Opens a round over the quizzes of the current game and begins the next game.
   * @throws Refusal `conflict` while a round is open, or a quiz of the game is not revealed:
   *   a viewer's yes or no would tell the answer before its results (I6).
   */
  requestWinners: writing(
    async (
      tx,
      input: { id: string; streamId: string; producer: string; nowMs: number },
    ): Promise<WinnersRound> => {
      const stream = await lockOwnStream(tx, input.streamId, input.producer);
      if (stream.status === 'ENDED') throw new Refusal('conflict', 'The stream has ended.');
      const [round] = await tx.query(
        `select number from winners_rounds where stream_id = $1 and state = 'open'`,
        [input.streamId],
      );
      if (round) {
        throw new Refusal('conflict', 'A winners round is open; its count comes a second later.');
      }
      const quizzes = await tx.query<{ state: QuizState; question: string }>(
        `select q.state as state, q.question as question from quizzes q
         join streams s on s.id = q.stream_id and s.game = q.game where q.stream_id = $1`,
        [input.streamId],
      );
      const blocker = gameBlockers(quizzes)[0];
      if (blocker) throw new Refusal('conflict', blocker);
      await recordEvent(tx, input.streamId, 'request-quiz-winners', null);
      await tx.query('update streams set game = game + 1 where id = $1', [input.streamId]);
      await tx.query(
        `insert into winners_rounds (id, number, stream_id, game, quizzes, state, requested)
         select $1, $2, id, game - 1, $3, 'open', $4 from streams where id = $5`,
        [input.id, await nextNumber(tx, 'round'), quizzes.length, input.nowMs, input.streamId],
      );
      const [made] = await tx.query<WinnersRound>(
        `select ${ROUND_COLUMNS} from winners_rounds where id = $1`,
        [input.id],
      );
      if (!made) throw new Error('the round was not recorded');
      return made;
    },
  ),

  listWinnersRounds: reading(
    async (tx, input: { streamId: string; producer: string }): Promise<WinnersRound[]> => {
      await ownStream(tx, input.streamId, input.producer);
      const rows = await tx.query<WinnersRound>(
        `select ${ROUND_COLUMNS} from winners_rounds where stream_id = $1 order by number`,
        [input.streamId],
      );
      return [...rows];
    },
  ),

  /**
   * Records a batch of claims; a seat that won is counted once however often it says so. A hall
   * claims in one second, so each stream of the batch costs two statements, however many seats. A
   * round that takes claims is not closed meanwhile. Decisions come in the order of the claims.
   */
  recordWinners: writing(async (tx, claims: readonly WinnerClaim[]): Promise<ClaimDecision[]> => {
    if (claims.length === 0) return [];
    const decisions = new Map<WinnerClaim, ClaimDecision>();
    const claimsOf = Map.groupBy(claims, ({ streamId }) => streamId);
    for (const round of await openRounds(tx, claims)) {
      const inTime = (claimsOf.get(round.streamId) ?? []).filter((claim) => isInTime(round, claim));
      const qualified = await qualifiedAmong(tx, round, inTime);
      const won = inTime.filter(({ seat }) => qualified.has(seat));
      await tx.addNew(
        WINNERS,
        won.map(({ seat, receivedMs }) => [round.number, seat, receivedMs]),
      );
      for (const claim of inTime) {
        decisions.set(claim, qualified.has(claim.seat) ? 'won' : 'not-qualified');
      }
    }
    return claims.map((claim) => decisions.get(claim) ?? 'no-round');
  }),
};

/**
 * The open rounds that one of these claims may be in time for, locked in the order of their numbers.
 * A claim that came too late locks none: else the close could wait for ever.
 */
async function openRounds(tx: Tx, claims: readonly WinnerClaim[]): Promise<OpenRound[]> {
  const streamIds = new Set(claims.map(({ streamId }) => streamId));
  const firstMs = Math.min(...claims.map(({ receivedMs }) => receivedMs));
  const rounds = await tx.query<OpenRound>(
    `select number, stream_id as "streamId", game, quizzes, due_interval as "dueInterval"
     from winners_rounds
     where stream_id in (select stream_id from ${tx.rows('$1', ['stream_id text'])} claimed)
     and state = 'open' and (due_interval is null or due_interval >= $2)
     order by number ${tx.locks.share}`,
    [JSON.stringify([...streamIds].map((streamId) => [streamId])), intervalAt(firstMs)],
  );
  return [...rounds];
}

/** Whether the claim came by the end of the interval that tells the round's count (W-4). */
function isInTime({ dueInterval }: OpenRound, { receivedMs }: WinnerClaim): boolean {
  return dueInterval === null || intervalAt(receivedMs) <= dueInterval;
}

/** The seats that answered every quiz of the round's game correctly (W-7). */
async function qualifiedAmong(
  tx: Tx,
  { streamId, game, quizzes }: OpenRound,
  claims: readonly WinnerClaim[],
): Promise<Set<number>> {
  const seats = new Set(claims.map(({ seat }) => seat));
  // A count for each seat, not one join: SQLite would go through all answers of each quiz.
  const rows = await tx.query<{ seat: number }>(
    `select seat from ${tx.rows('$3', ['seat integer'])} claimed where $4 =
       (select count(*) from quizzes q
        join answers a on a.quiz = q.number and a.choice = q.answer
        where q.stream_id = $1 and q.game = $2 and a.seat = claimed.seat)`,
    [streamId, game, JSON.stringify([...seats].map((seat) => [seat])), quizzes],
  );
  return new Set(rows.map(({ seat }) => seat));
}

/**
 * Due work, part of sealing: closes these rounds, whose second has passed, and counts them. A round
 * whose claims are being recorded stays due; one that comes after finds it closed.
 * @returns the `quiz-winners` of each that was closed
 */
export async function closeRounds(tx: Tx, numbers: readonly number[]): Promise<Closed> {
  if (numbers.length === 0) return { results: [], happenings: [] };
  const due = await tx.query<{ number: number; id: string; streamId: string }>(
    `select number, id, stream_id as "streamId" from winners_rounds where number in
     (select number from ${tx.rows('$1', ['number integer'])} due)
     order by number ${tx.locks.settle}`,
    [JSON.stringify(numbers.map((number) => [number]))],
  );
  if (due.length === 0) return { results: [], happenings: [] };
  // A statement after that of the lock: it sees every claim that was recorded before.
  const counted = await tx.query<{ round: number; n: number }>(
    `select round, count(*) as n from winners where round in
     (select number from ${tx.rows('$1', ['number integer'])} due) group by round`,
    [JSON.stringify(due.map(({ number }) => [number]))],
  );
  const countOf = new Map(counted.map(({ round, n }) => [round, Number(n)]));
  const closed = due.map((round) => ({ ...round, count: countOf.get(round.number) ?? 0 }));
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
    happenings: closed.map(({ id, streamId, count }) => {
      return { type: 'winners', streamId, key: id, data: { streamId, roundId: id, count } };
    }),
  };
}

/** Starts the second of rounds once their requests are in an interval that viewers can read. */
export async function startRoundDelays(
  tx: Tx,
  streamIds: readonly string[],
  dueInterval: number,
): Promise<void> {
  if (streamIds.length === 0) return;
  await tx.query(
    `update winners_rounds set due_interval = $2
     where stream_id in (select stream_id from ${tx.rows('$1', ['stream_id text'])} asked)
     and state = 'open' and due_interval is null`,
    [JSON.stringify(streamIds.map((streamId) => [streamId])), dueInterval],
  );
}
