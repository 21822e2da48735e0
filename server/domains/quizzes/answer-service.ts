import { LRUCache } from 'lru-cache';
import { type Answer, answerSchema } from '../../../protocol/quizzes.ts';
import type { SeatOfStream } from '../../auth/viewer-tokens/checked-viewers.ts';
import { parseBody } from '../../http/body.ts';
import { Problem } from '../../http/problem.ts';
import { atMostEntries } from '../../platform/cache-size.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import { runtime } from '../../platform/runtime.ts';
import { Batch, type Waiter } from '../../storage/sql/batch.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { untilBudgetEnds } from '../../storage/sql/request-budget.ts';
import type { answerProcedures } from './answers-sql.ts';
import type { AnswerDecision, ArrivedAnswer } from './quiz-rules.ts';
import type { PublishedQuiz, quizProcedures } from './quizzes-sql.ts';
import type { ClaimDecision, WinnerClaim, winnersProcedures } from './winners-sql.ts';

export interface AnswerServiceOptions {
  readonly store: Pick<
    Calls<typeof quizProcedures & typeof answerProcedures & typeof winnersProcedures>,
    'findPublishedQuizzes' | 'recordAnswers' | 'recordWinners'
  >;
  readonly clock: Clock;
  /** The rate limit of answers and winner reports of each viewer. */
  readonly rate: RateLimiter<SeatOfStream>;
}

/** Receives the outcome of an answer or a winner report. */
export interface OutcomeCallbacks {
  accept(): void;
  /** @param error DomainError `unauthorized` or `conflict`, or the error of the database */
  refuse(error: unknown): void;
}

/** Offsets in a buffer of the quiz id and the body of a request; the body ends before `end`. */
export interface AnswerOffsets {
  readonly idAt: number;
  readonly bodyAt: number;
  readonly end: number;
}

/** A valid answer: the quiz and the index of its choice. */
interface ParsedAnswer {
  readonly quiz: PublishedQuiz;
  readonly choice: number;
}

const QUIZZES_MAX = 1_000;
/** Enough for all choices of a quiz, each as several kinds of clients serialize it. */
const BODIES_MAX = 32;
const BODY_BYTES_MAX = 1_024;
const REFUSALS_MAX = 20_000;
const ID_CHARS = 36;

// One call with 1,000 rows takes about 2 ms; a longer one would delay other calls in the same commit.
const BATCH_MAX = 1_000;
// At peak load a commit takes less than a millisecond, and few answers arrive meanwhile: with this pace
// the writing thread spends 2.3 to 3.6 µs on an answer, without it 3.3 to 5.5 µs.
const PACE_MS = 4;

/**
 * Stores answers and winner reports of viewers whose token was checked (SPEC Q, W), for the HTTP
 * routes and the fast path of the gateway. An answer or report is stored before it is acknowledged.
 */
export class AnswerService {
  /** The number of answers on this node by decision, for metrics. */
  readonly decisions: Record<AnswerDecision, number> = {
    accepted: 0,
    duplicate: 0,
    conflict: 0,
    closed: 0,
  };
  private readonly quizzes: PublishedQuizzes;
  private readonly answers: Batch<ArrivedAnswer, AnswerDecision>;
  private readonly claims: Batch<Omit<WinnerClaim, 'refusedBy'>, ClaimDecision>;
  /** By stream and seat: the round that refused it. Its answers are final, so the same round refuses it again. */
  private readonly refusingRounds = new LRUCache<string, number>(atMostEntries(REFUSALS_MAX));

  constructor(private readonly options: AnswerServiceOptions) {
    const { store } = options;
    this.quizzes = new PublishedQuizzes(store);
    this.answers = new Batch(store.recordAnswers, BATCH_MAX, null, PACE_MS);
    // When they are sent: a seat that waits behind its own refusal is not looked up again.
    const withRefusals = (claims: readonly Omit<WinnerClaim, 'refusedBy'>[]) =>
      claims.map((claim) => ({ ...claim, refusedBy: this.refusingRounds.get(keyOf(claim)) }));
    this.claims = new Batch(
      (claims) => store.recordWinners(withRefusals(claims)),
      BATCH_MAX,
      null,
      PACE_MS,
    );
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
    const startMs = runtime.monotonicMs();
    const isCached = this.quizzes.has(quizId, body.closeInterval);
    const quiz = await this.quizzes.find(quizId, body.closeInterval);
    if (!quiz || quiz.streamId !== viewer.streamId) {
      throw new DomainError('not-found', 'There is no such quiz in this stream.');
    }
    const choice = choiceIn(quiz, body);
    const stored = new Promise<void>((accept, refuse) => {
      this.enqueue(viewer, quiz, choice, receivedMs, { accept, refuse });
    });
    await (isCached ? stored : untilBudgetEnds(startMs, stored));
  }

  /**
   * Does what `take` and `answer` do, if the answer is valid and its quiz is cached.
   * @param bytes the buffer that holds the request at `offsets`
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
    this.enqueue(viewer, parsed.quiz, parsed.choice, receivedMs, callbacks);
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
    { number, created }: PublishedQuiz,
    choice: number,
    receivedMs: number,
    callbacks: OutcomeCallbacks,
  ): void {
    const { decisions } = this;
    const answer = new PendingAnswer(
      number,
      created,
      seat,
      choice,
      receivedMs,
      callbacks,
      decisions,
    );
    this.answers.enqueue(answer, answer);
  }

  private enqueueClaim(
    { streamId, seat }: SeatOfStream,
    receivedMs: number,
    callbacks: OutcomeCallbacks,
  ): void {
    const startMs = runtime.monotonicMs();
    const claim = { streamId, seat, receivedMs };
    const waiter: Waiter<ClaimDecision> = {
      resolve: (decision) => {
        if (decision === 'later') {
          untilBudgetEnds(startMs, this.claims.add(claim)).then(waiter.resolve, waiter.reject);
          return;
        }
        if (typeof decision === 'object') this.refusingRounds.set(keyOf(claim), decision.refusedBy);
        resolveClaim(decision, callbacks);
      },
      reject: (error) => callbacks.refuse(error),
    };
    this.claims.enqueue(claim, waiter);
  }
}

const keyOf = ({ streamId, seat }: SeatOfStream) => `${streamId} ${seat}`;

/** An answer in a batch and the callbacks for its outcome, in one object because there are so many. */
class PendingAnswer implements ArrivedAnswer, Waiter<AnswerDecision> {
  constructor(
    readonly quiz: number,
    readonly created: number,
    readonly seat: number,
    readonly choice: number,
    readonly receivedMs: number,
    private readonly callbacks: OutcomeCallbacks,
    private readonly decisions: Record<AnswerDecision, number>,
  ) {}

  resolve(decision: AnswerDecision): void {
    this.decisions[decision]++;
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

function resolveClaim(
  decision: Exclude<ClaimDecision, 'later'>,
  callbacks: OutcomeCallbacks,
): void {
  if (decision === 'won') callbacks.accept();
  else if (decision === 'no-round') {
    const detail = 'No winners are asked for now; wait for request-quiz-winners.';
    callbacks.refuse(new DomainError('conflict', detail));
  } else {
    const detail = 'Not every quiz of this game was answered correctly.';
    callbacks.refuse(new DomainError('unauthorized', detail));
  }
}

interface CachedBody {
  readonly bytes: Buffer;
  readonly choice: number;
}

interface CachedQuiz {
  readonly id: Buffer;
  readonly quiz: PublishedQuiz;
  readonly bodies: CachedBody[];
}

/**
 * A cache of published quizzes with the fields that never change, against which answers are validated.
 * The state of a quiz changes, so the database checks it. A quiz is published twice when a failover of PostgreSQL
 * lost the first time, so an answer with another `closeInterval` has it read again.
 */
class PublishedQuizzes {
  private readonly cache = new LRUCache<string, CachedQuiz>(atMostEntries(QUIZZES_MAX));
  private last: CachedQuiz | null = null;
  private readonly loading = new Map<string, Promise<PublishedQuiz | null>>();
  // Together, because viewers may send any number of unknown ids, which must not delay the others.
  private readonly lookups: Batch<string, PublishedQuiz | null>;

  constructor(store: Pick<Calls<typeof quizProcedures>, 'findPublishedQuizzes'>) {
    this.lookups = new Batch(store.findPublishedQuizzes, BATCH_MAX);
  }

  /** Whether `find` needs no lookup. */
  has(id: string, closeInterval: number): boolean {
    return this.cache.get(id)?.quiz.closeInterval === closeInterval;
  }

  /**
   * The quiz, or null when there is none.
   * @param closeInterval as the viewer has it
   * @throws Unavailable
   */
  async find(id: string, closeInterval: number): Promise<PublishedQuiz | null> {
    const cached = this.cache.get(id);
    if (cached?.quiz.closeInterval === closeInterval) return cached.quiz;
    const pending = this.loading.get(id) ?? this.lookups.add(id);
    this.loading.set(id, pending);
    const quiz = await pending.finally(() => this.loading.delete(id));
    if (quiz && this.cache.get(id)?.quiz.closeInterval !== quiz.closeInterval) {
      this.last = null;
      this.cache.set(id, { id: Buffer.from(id), quiz, bodies: [] });
    }
    return quiz;
  }

  /**
   * Parses an answer to a cached quiz. Viewers of a quiz send the same few bodies, so those are cached
   * too: a lookup takes 0.1 µs, a parse 1 µs.
   * @returns null when the quiz is not cached or the answer is not valid
   */
  parse(bytes: Buffer, { idAt, bodyAt, end }: AnswerOffsets): ParsedAnswer | null {
    const cached = this.cachedAt(bytes, idAt);
    if (!cached || end - bodyAt > BODY_BYTES_MAX) return null;
    for (const body of cached.bodies) {
      if (body.bytes.length === end - bodyAt && body.bytes.compare(bytes, bodyAt, end) === 0) {
        return { quiz: cached.quiz, choice: body.choice };
      }
    }
    return parseAndCache(cached, bytes.subarray(bodyAt, end));
  }

  private cachedAt(bytes: Buffer, idAt: number): CachedQuiz | null {
    const { last } = this;
    if (last && last.id.compare(bytes, idAt, idAt + last.id.length) === 0) return last;
    const cached = this.cache.get(bytes.toString('latin1', idAt, idAt + ID_CHARS)) ?? null;
    if (cached) this.last = cached;
    return cached;
  }
}

function parseAndCache({ quiz, bodies }: CachedQuiz, body: Buffer): ParsedAnswer | null {
  try {
    const answer = parseBody(answerSchema, body);
    if (answer.streamId !== quiz.streamId) return null;
    const choice = choiceIn(quiz, answer);
    if (bodies.length < BODIES_MAX) bodies.push({ bytes: Buffer.from(body), choice });
    return { quiz, choice };
  } catch (error) {
    if (error instanceof Problem || error instanceof DomainError) return null;
    throw error;
  }
}

/** The index of the choice that an answer to this quiz names. @throws DomainError `invalid` */
function choiceIn(quiz: PublishedQuiz, { choice, closeInterval }: Answer): number {
  const index = quiz.choices.indexOf(choice);
  if (index < 0) {
    throw new DomainError('invalid', 'choice: must be one of the keys of the quiz’s choices.');
  }
  if (closeInterval !== quiz.closeInterval) {
    throw new DomainError('invalid', 'closeInterval: must be that of the quiz event.');
  }
  return index;
}
