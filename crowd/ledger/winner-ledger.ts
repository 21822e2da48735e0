import { intervalStartMs } from '../../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../../protocol/limits.ts';
import type { AnswerLedger } from './answer-ledger.ts';
import { outsidersSuffix } from './outsiders.ts';

/** What became of a winner report: 204, 401, 409, or nobody knows. */
export type WinnerReportOutcome = 'won' | 'not-qualified' | 'no-round' | 'unknown';

/** A winners round, from its `request-quiz-winners`. */
export interface Round {
  readonly number: number;
  readonly quizIds: readonly string[];
  readonly interval: number;
  readonly won: Set<number>;
  readonly maybe: Set<number>;
}

/** A winner report that was sent. */
export interface WinnerReport {
  readonly round: Round;
  readonly viewer: number;
  /** No earlier report of this viewer can have been recorded. */
  readonly fresh: boolean;
}

/** Our own record of every game and of every winner report: what the rounds must count (I-4, W). */
export class WinnerLedger {
  private game: string[] = [];
  private round: Round | null = null;
  private rounds = 0;

  constructor(private readonly answers: Pick<AnswerLedger, 'standing' | 'outsidersQualified'>) {}

  /** A `quiz` event was read: the quiz belongs to the current game. */
  asked(quizId: string): void {
    this.game.push(quizId);
  }

  /** A `request-quiz-winners` event was read: a round over the game, and the next game begins. */
  requested(interval: number): Round {
    const quizIds = this.game;
    this.game = [];
    this.rounds++;
    this.round = {
      number: this.rounds,
      quizIds,
      interval,
      won: new Set(),
      maybe: new Set(),
    };
    return this.round;
  }

  /** The round that was requested last, or null. */
  latest(): Round | null {
    return this.round;
  }

  /** A report is about to be sent. */
  sent(round: Round, viewer: number): WinnerReport {
    const fresh = !round.won.has(viewer) && !round.maybe.has(viewer);
    if (!round.won.has(viewer)) round.maybe.add(viewer);
    return { round, viewer, fresh };
  }

  /**
   * A report has its response.
   * @param latestMs it arrived no later than this, in service time
   * @returns what is wrong with the response, or null
   */
  settled(
    { round, viewer, fresh }: WinnerReport,
    outcome: WinnerReportOutcome,
    latestMs: number,
  ): string | null {
    if (outcome === 'unknown') return null;
    // That the round is over says nothing about a report before, of which nobody heard.
    if (outcome !== 'no-round' || fresh) round.maybe.delete(viewer);
    const standing = this.answers.standing(round.quizIds, viewer);
    const who = `viewer ${viewer}, winners round ${round.number}:`;
    if (outcome === 'won') {
      round.won.add(viewer);
      return standing === 'no' ? `${who} acknowledged without all the right answers` : null;
    }
    if (round.won.has(viewer) && outcome === 'not-qualified') return `${who} refused after a yes`;
    if (outcome === 'not-qualified') {
      return standing === 'yes' ? `${who} refused with all the right answers` : null;
    }
    // W-4: the round is open until its count is sealed, which is after its interval.
    return latestMs < intervalStartMs(round.interval + WINNERS_DELAY_INTERVALS + 1)
      ? `${who} refused while the round is open`
      : null;
  }

  /**
   * Compares the count of a round with what was acknowledged.
   * @param others viewers of whom we know nothing, at most; those with the right answers may have won
   * @returns what is wrong, or null
   */
  check(round: Round, count: number, others = 0): string | null {
    const low = round.won.size;
    const high = low + round.maybe.size;
    const right = Math.min(others, this.answers.outsidersQualified(round.quizIds));
    if (count >= low && count <= high + right) return null;
    const range = low === high ? `${low}` : `${low} to ${high}`;
    const told = `winners round ${round.number} counts ${count}, and ${range} were acknowledged`;
    return told + outsidersSuffix(right);
  }

  /**
   * W-5: whether the count came in the right interval.
   * @param isPunctual the fourth interval after the request was sealed on its time; one that was
   *   sealed late may be skipped, and the count is then in a later one (F-16)
   */
  checkDelay(round: Round, interval: number, isPunctual: boolean): string | null {
    const delay = interval - round.interval;
    if (delay === WINNERS_DELAY_INTERVALS) return null;
    if (delay > WINNERS_DELAY_INTERVALS && !isPunctual) return null;
    return `winners round ${round.number} has its count ${delay} intervals after its request`;
  }
}
