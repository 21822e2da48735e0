import { intervalAt } from '../../../protocol/interval.ts';
import type { Answer } from '../../../protocol/quizzes.ts';
import type { SeatOfStream } from '../../auth/viewer-tokens/admission.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import { Batch, type Waiter } from '../../storage/sql/batch.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { answerProcedures } from './answers-sql.ts';
import { type AnswerOffsets, choiceIn, PublishedQuizzes } from './published-quizzes.ts';
import type { AnswerDecision, ArrivedAnswer } from './quiz-rules.ts';
import type { quizProcedures } from './quizzes-sql.ts';
import type { ClaimDecision, WinnerClaim, winnersProcedures } from './winners-sql.ts';

export interface AnswerServiceOptions {
  readonly store: Pick<
    Calls<typeof quizProcedures & typeof answerProcedures & typeof winnersProcedures>,
    'findPublishedQuiz' | 'recordAnswers' | 'recordWinners'
  >;
  readonly clock: Clock;
  /** The rate limit of answers and winner reports of each viewer. */
  readonly rate: RateLimiter<SeatOfStream>;
  /** Receives the decision on each answer, for metrics. */
  readonly onDecided: (decision: AnswerDecision) => void;
}

/** Receives the outcome of an answer or a winner report. */
export interface OutcomeCallbacks {
  /** It is stored. */
  accept(): void;
  /** @param error DomainError `unauthorized` or `conflict`, or the error of the database */
  refuse(error: unknown): void;
}

// One call with 1,000 rows takes about 2 ms; a longer one would delay other calls in the same commit.
const BATCH_MAX = 1_000;
// At peak load a commit takes less than a millisecond, and few answers arrive meanwhile: with this pace
// the writing thread spends 2.3 to 3.6 µs on an answer, without it 3.3 to 5.5 µs.
const PACE_MS = 4;

/**
 * Takes answers and winner reports of viewers whose token was checked (SPEC Q, W), from the HTTP routes
 * and from the fast path of the gateway. What it accepts is stored.
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

  /** Counts one request against the viewer's rate limit. @throws RateLimited */
  take(viewer: SeatOfStream): void {
    this.options.rate.take(viewer, this.options.clock.nowMs());
  }

  /**
   * Resolves when the answer is stored.
   * @param receivedMs when it had arrived, Unix ms
   * @throws DomainError `unauthorized`, `not-found`, `invalid` or `conflict`, checked in this order
   *   Unavailable
   */
  async answer(
    viewer: SeatOfStream,
    quizId: string,
    body: Answer,
    receivedMs: number,
  ): Promise<void> {
    if (body.streamId !== viewer.streamId) {
      throw new DomainError('unauthorized', 'The viewer token is of another stream than streamId.');
    }
    const quiz = await this.quizzes.find(quizId);
    if (!quiz || quiz.streamId !== viewer.streamId) {
      throw new DomainError('not-found', 'There is no such quiz in this stream.');
    }
    const choice = choiceIn(quiz, body);
    await new Promise<void>((accept, refuse) => {
      this.enqueue(viewer, quiz.number, choice, receivedMs, { accept, refuse });
    });
  }

  /**
   * Does `take` and `answer` for an answer to a cached quiz that passes all checks.
   * @param bytes the buffer that holds the request, `offsets` where in it
   * @returns false, without any effect, when the request must go through `answer` to be refused or looked up
   */
  tryAnswer(
    viewer: SeatOfStream,
    bytes: Buffer,
    offsets: AnswerOffsets,
    receivedMs: number,
    callbacks: OutcomeCallbacks,
  ): boolean {
    const parsed = this.quizzes.parse(bytes, offsets);
    if (
      parsed?.quiz.streamId !== viewer.streamId ||
      !this.options.rate.tryTake(viewer, receivedMs)
    ) {
      return false;
    }
    this.enqueue(viewer, parsed.quiz.number, parsed.choice, receivedMs, callbacks);
    return true;
  }

  /**
   * Stores the viewer as a winner.
   * @throws DomainError `conflict` without an open round, then `unauthorized` if the viewer did not win;
   *   Unavailable
   */
  claim(viewer: SeatOfStream): Promise<void> {
    const nowMs = this.options.clock.nowMs();
    return new Promise((accept, refuse) => this.enqueueClaim(viewer, nowMs, { accept, refuse }));
  }

  /** Does `take` and `claim`. @returns false, without any effect, when the rate limit is reached */
  tryClaim(viewer: SeatOfStream, callbacks: OutcomeCallbacks): boolean {
    const nowMs = this.options.clock.nowMs();
    if (!this.options.rate.tryTake(viewer, nowMs)) return false;
    this.enqueueClaim(viewer, nowMs, callbacks);
    return true;
  }

  private enqueue(
    { seat }: SeatOfStream,
    quiz: number,
    choice: number,
    receivedMs: number,
    callbacks: OutcomeCallbacks,
  ): void {
    const { onDecided } = this.options;
    const answer = new PendingAnswer(quiz, seat, choice, receivedMs, callbacks, onDecided);
    this.answers.enqueue(answer, answer);
  }

  private enqueueClaim(
    { streamId, seat }: SeatOfStream,
    receivedMs: number,
    callbacks: OutcomeCallbacks,
  ): void {
    this.claims.enqueue(
      { streamId, seat, receivedMs },
      {
        resolve: (decision) => resolveClaim(decision, callbacks),
        reject: (error) => callbacks.refuse(error),
      },
    );
  }
}

/** An answer in a batch and the callbacks for its outcome, in one object because there are so many. */
class PendingAnswer implements ArrivedAnswer, Waiter<AnswerDecision> {
  readonly interval: number;

  constructor(
    readonly quiz: number,
    readonly seat: number,
    readonly choice: number,
    readonly receivedMs: number,
    private readonly callbacks: OutcomeCallbacks,
    private readonly onDecided: AnswerServiceOptions['onDecided'],
  ) {
    this.interval = intervalAt(receivedMs);
  }

  resolve(decision: AnswerDecision): void {
    this.onDecided(decision);
    if (decision === 'accepted' || decision === 'duplicate') this.callbacks.accept();
    else if (decision === 'closed') this.reject(new DomainError('conflict', 'The quiz is closed.'));
    else {
      const detail = 'You gave another answer to this quiz; the first one stands.';
      this.reject(new DomainError('conflict', detail));
    }
  }

  reject(error: unknown): void {
    this.callbacks.refuse(error);
  }
}

function resolveClaim(decision: ClaimDecision, callbacks: OutcomeCallbacks): void {
  if (decision === 'won') callbacks.accept();
  else if (decision === 'no-round') {
    const detail = 'No winners are asked for now; wait for request-quiz-winners.';
    callbacks.refuse(new DomainError('conflict', detail));
  } else {
    const detail = 'Not every quiz of this game was answered correctly.';
    callbacks.refuse(new DomainError('unauthorized', detail));
  }
}
