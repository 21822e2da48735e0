import { intervalAt } from '../../../protocol/interval.ts';
import type { Answer } from '../../../protocol/quizzes.ts';
import { Problem, unauthorized } from '../../http/problem.ts';
import type { Clock } from '../../platform/clock.ts';
import { Batch, type Waiter } from '../../storage/sql/batch.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { SeatOfStream } from '../moderation/chat-rooms.ts';
import type { answerProcedures } from './answers-sql.ts';
import type { AnswerDecision, ArrivedAnswer } from './arrived-answer.ts';
import { type AnswerAt, choiceIn, PublishedQuizzes } from './published-quizzes.ts';
import type { quizProcedures } from './quizzes-sql.ts';
import type { SeatRate } from './seat-rate.ts';
import type { ClaimDecision, WinnerClaim, winnersProcedures } from './winners-sql.ts';

export interface AnswerServiceOptions {
  readonly store: Pick<
    Calls<typeof quizProcedures & typeof answerProcedures & typeof winnersProcedures>,
    'findPublishedQuiz' | 'recordAnswers' | 'recordWinners'
  >;
  readonly clock: Clock;
  /** Answers and winner reports for each viewer. */
  readonly rate: SeatRate;
  /** Told what became of each answer, for metrics. */
  readonly onDecided: (decision: AnswerDecision) => void;
}

/** Who waits for what becomes of an answer or a report. */
export interface Outcome {
  /** It is recorded. */
  accept(): void;
  /** @param error Problem 401 or 409, or what the database failed with */
  refuse(error: unknown): void;
}

// One call with 1,000 rows takes about 2 ms; more would hold up what shares the commit.
const BATCH_MAX = 1_000;
// In a rush a commit takes less than a millisecond, and few answers come meanwhile: with this the thread that
// writes spends 2.3 to 3.6 µs an answer, where it spent 3.3 to 5.5.
const PACE_MS = 4;

/**
 * Takes answers and winner reports of viewers whose token was checked (SPEC Q, W), whatever way they
 * came. What is accepted is recorded.
 */
export class AnswerService {
  private readonly quizzes: PublishedQuizzes;
  private readonly answers: Batch<ArrivedAnswer, AnswerDecision>;
  private readonly claims: Batch<WinnerClaim, ClaimDecision>;

  constructor(private readonly options: AnswerServiceOptions) {
    const { store } = options;
    this.quizzes = new PublishedQuizzes(store);
    this.answers = new Batch(store.recordAnswers, BATCH_MAX, null, PACE_MS);
    this.claims = new Batch(store.recordWinners, BATCH_MAX, null, PACE_MS);
  }

  /** Uses one request of the viewer's share. @throws Problem 429 */
  take(viewer: SeatOfStream): void {
    this.options.rate.take(viewer, this.options.clock.nowMs());
  }

  /**
   * Resolves when the answer is recorded.
   * @param receivedMs when it had arrived, Unix ms
   * @throws Problem 401, 404, 400, 409, in this order; Unavailable
   */
  async answer(
    viewer: SeatOfStream,
    quizId: string,
    body: Answer,
    receivedMs: number,
  ): Promise<void> {
    if (body.streamId !== viewer.streamId) {
      throw unauthorized('Bearer', 'The viewer token is of another stream than streamId.');
    }
    const quiz = await this.quizzes.find(quizId);
    if (!quiz || quiz.streamId !== viewer.streamId) {
      throw new Problem(404, 'There is no such quiz in this stream.');
    }
    const choice = choiceIn(quiz, body);
    await new Promise<void>((accept, refuse) => {
      this.put(viewer, quiz.number, choice, receivedMs, { accept, refuse });
    });
  }

  /**
   * `take` and `answer` at once.
   * @param bytes the request
   * @returns false when there is something to look at or to refuse first: then nothing was done
   */
  answerAtOnce(
    viewer: SeatOfStream,
    bytes: Buffer,
    places: AnswerAt,
    receivedMs: number,
    outcome: Outcome,
  ): boolean {
    const chosen = this.quizzes.chosen(bytes, places);
    if (chosen?.quiz.streamId !== viewer.streamId || !this.hasTaken(viewer, receivedMs))
      return false;
    this.put(viewer, chosen.quiz.number, chosen.choice, receivedMs, outcome);
    return true;
  }

  /**
   * Records that the viewer won.
   * @throws Problem 409 or, after it, 401; Unavailable
   */
  claim(viewer: SeatOfStream): Promise<void> {
    const nowMs = this.options.clock.nowMs();
    return new Promise((accept, refuse) => this.putClaim(viewer, nowMs, { accept, refuse }));
  }

  /** `take` and `claim` at once. @returns as `answerAtOnce` */
  claimAtOnce(viewer: SeatOfStream, outcome: Outcome): boolean {
    const nowMs = this.options.clock.nowMs();
    if (!this.hasTaken(viewer, nowMs)) return false;
    this.putClaim(viewer, nowMs, outcome);
    return true;
  }

  private hasTaken(viewer: SeatOfStream, nowMs: number): boolean {
    try {
      this.options.rate.take(viewer, nowMs);
      return true;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  }

  private put(
    { seat }: SeatOfStream,
    quiz: number,
    choice: number,
    receivedMs: number,
    outcome: Outcome,
  ): void {
    const { onDecided } = this.options;
    const answer = new WaitingAnswer(quiz, seat, choice, receivedMs, outcome, onDecided);
    this.answers.put(answer, answer);
  }

  private putClaim({ streamId, seat }: SeatOfStream, receivedMs: number, outcome: Outcome): void {
    this.claims.put(
      { streamId, seat, receivedMs },
      {
        resolve: (decision) => claimDecided(decision, outcome),
        reject: (error) => outcome.refuse(error),
      },
    );
  }
}

/** An answer on its way to the database, and who waits for it: one object, since there are so many. */
class WaitingAnswer implements ArrivedAnswer, Waiter<AnswerDecision> {
  readonly interval: number;

  constructor(
    readonly quiz: number,
    readonly seat: number,
    readonly choice: number,
    readonly receivedMs: number,
    private readonly outcome: Outcome,
    private readonly onDecided: AnswerServiceOptions['onDecided'],
  ) {
    this.interval = intervalAt(receivedMs);
  }

  resolve(decision: AnswerDecision): void {
    this.onDecided(decision);
    if (decision === 'record' || decision === 'same') this.outcome.accept();
    else if (decision === 'closed') this.reject(new Problem(409, 'The quiz is closed.'));
    else
      this.reject(new Problem(409, 'You gave another answer to this quiz; the first one stands.'));
  }

  reject(error: unknown): void {
    this.outcome.refuse(error);
  }
}

function claimDecided(decision: ClaimDecision, outcome: Outcome): void {
  if (decision === 'won') outcome.accept();
  else if (decision === 'no-round') {
    const detail = 'No winners are asked for now; wait for request-quiz-winners.';
    outcome.refuse(new Problem(409, detail));
  } else {
    const detail = 'Not every quiz of this game was answered correctly.';
    outcome.refuse(unauthorized('Bearer', detail));
  }
}
