import { intervalStartMs } from '../../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../../protocol/limits.ts';
import type { AnswerLedger } from './answer-ledger.ts';
import { externalViewersSuffix } from './external-viewers.ts';

/** Outcome of a winner report: 204, 401, 409, or another response or none. */
export type WinnerReportOutcome = 'won' | 'not-qualified' | 'no-round' | 'unknown';

/** A winners round. `interval` is the interval of its `request-quiz-winners`. */
export interface Round {
  readonly number: number;
  readonly quizIds: readonly string[];
  readonly interval: number;
  /** Viewers whose report was acknowledged, and viewers whose report may have been recorded. */
  readonly won: Set<number>;
  readonly maybe: Set<number>;
}

/** A winner report that was sent. */
export interface WinnerReport {
  readonly round: Round;
  readonly viewer: number;
  /** Whether no earlier report of this viewer can have been recorded. */
  readonly isFirst: boolean;
}

/** Games and winner reports of the crowd. Checks the responses and the count of a round (I-4, W). */
export class WinnerLedger {
  private game: string[] = [];
  private round: Round | null = null;
  private rounds = 0;

  constructor(
    private readonly answers: Pick<AnswerLedger, 'qualification' | 'externalViewersQualified'>,
  ) {}

  /** Takes a `quiz` event: the quiz belongs to the current game. */
  onQuiz(quizId: string): void {
    this.game.push(quizId);
  }

  /** Takes a `request-quiz-winners` event: starts a round over the game, and the next game. */
  onRequest(interval: number): Round {
    const quizIds = this.game;
    this.game = [];
    this.rounds++;
    this.round = { number: this.rounds, quizIds, interval, won: new Set(), maybe: new Set() };
    return this.round;
  }

  latest(): Round | null {
    return this.round;
  }

  /** Records a report that is about to be sent. */
  sent(round: Round, viewer: number): WinnerReport {
    const isFirst = !round.won.has(viewer) && !round.maybe.has(viewer);
    if (!round.won.has(viewer)) round.maybe.add(viewer);
    return { round, viewer, isFirst };
  }

  /**
   * Records and checks the response to a report.
   * @param latestMs upper bound of its arrival, service time
   * @returns what is wrong with the response, or null
   */
  checkResponse(
    { round, viewer, isFirst }: WinnerReport,
    outcome: WinnerReportOutcome,
    latestMs: number,
  ): string | null {
    if (outcome === 'unknown') return null;
    // A 409 does not reveal whether an earlier report without a response was recorded.
    if (outcome !== 'no-round' || isFirst) round.maybe.delete(viewer);
    const qualification = this.answers.qualification(round.quizIds, viewer);
    const subject = `viewer ${viewer}, winners round ${round.number}:`;
    if (outcome === 'won') {
      round.won.add(viewer);
      return qualification === 'no'
        ? `${subject} acknowledged without all the right answers`
        : null;
    }
    if (round.won.has(viewer) && outcome === 'not-qualified')
      return `${subject} refused after it was acknowledged`;
    if (outcome === 'not-qualified') {
      return qualification === 'yes' ? `${subject} refused with all the right answers` : null;
    }
    // W-4: the round is open until its count is sealed, which is after its interval.
    return latestMs < intervalStartMs(round.interval + WINNERS_DELAY_INTERVALS + 1)
      ? `${subject} refused while the round is open`
      : null;
  }

  /**
   * Compares the count of a round with what was acknowledged.
   * @param others upper bound of the external viewers; those with the right answers may have won
   * @returns what is wrong, or null
   */
  check(round: Round, count: number, others = 0): string | null {
    const low = round.won.size;
    const high = low + round.maybe.size;
    const externalWinners = Math.min(others, this.answers.externalViewersQualified(round.quizIds));
    if (count >= low && count <= high + externalWinners) return null;
    const range = low === high ? `${low}` : `${low} to ${high}`;
    const mismatch = `winners round ${round.number} counts ${count}, but ${range} were acknowledged`;
    return mismatch + externalViewersSuffix(externalWinners);
  }

  /**
   * Checks that the count is in the right interval (W-5).
   * @param isOnTime whether the intervals from the one before the request to the fourth after it were sealed on
   *   time; otherwise some may be skipped (F-16) and the count is in a later one
   */
  checkDelay(round: Round, interval: number, isOnTime: boolean): string | null {
    const delay = interval - round.interval;
    if (delay === WINNERS_DELAY_INTERVALS) return null;
    if (delay > WINNERS_DELAY_INTERVALS && !isOnTime) return null;
    return `winners round ${round.number} has its count ${delay} intervals after its request`;
  }
}
