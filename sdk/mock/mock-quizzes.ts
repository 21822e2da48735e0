import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS, WINNERS_REPEATED_INTERVALS } from '../../protocol/limits.ts';
import type { ChoiceCount, Quiz, QuizResults, StreamEvent } from '../types.ts';
import { MockProblem } from './mock-replies.ts';
import type { MockViewer } from './mock-tokens.ts';

/** A quiz to publish. */
export interface NewQuiz {
  readonly question?: string | undefined;
  /** At least two. */
  readonly choices: readonly string[];
  /** The correct choice. */
  readonly answer: string;
  /** How long it is open, ms; default 10 s. */
  readonly durationMs?: number | undefined;
  /** When results are published. `auto` (default): with the close; `manual`: by `reveal`. */
  readonly reveal?: 'auto' | 'manual' | undefined;
}

interface QuizState {
  readonly quiz: Quiz;
  readonly answer: string;
  readonly revealsAutomatically: boolean;
  state: 'open' | 'closed' | 'revealed';
  /** Interval of its `quiz` event; null until that is sealed. */
  quizInterval: number | null;
  /** Choice by viewer identifier. */
  readonly answers: Map<string, string>;
}

interface Round {
  readonly game: readonly QuizState[];
  readonly winners: Set<string>;
  /** Interval in which the count is published; null until the request is in the feed. */
  countInterval: number | null;
}

/** Quizzes, answers and winners (SPEC Q, W). */
export class MockQuizzes {
  readonly #quizzes = new Map<string, QuizState>();
  /** Quizzes since the last round. */
  #game: QuizState[] = [];
  #round: Round | null = null;
  /** Identifiers of the winners of the last round, open or not. */
  winners: ReadonlySet<string> = new Set();
  /** When the last round closed. */
  #closeInterval = 0;

  constructor(
    readonly streamId: string,
    readonly latencyAllowanceMs: number,
  ) {}

  open(newQuiz: NewQuiz, created: number): Quiz {
    const { question = 'A question?', choices: order, answer, durationMs = 10_000 } = newQuiz;
    if (new Set(order).size !== order.length || order.length < 2 || !order.includes(answer)) {
      throw new Error('A quiz has at least two choices, all different, and one is the answer.');
    }
    const number = String(this.#quizzes.size + 1).padStart(12, '0');
    const quiz: Quiz = {
      id: `0f8fad5b-d9cb-469f-a165-${number}`,
      streamId: this.streamId,
      created,
      duration: durationMs,
      closeInterval: intervalAt(created + durationMs + this.latencyAllowanceMs + INTERVAL_MS - 1),
      question,
      choices: countAnswers(order, []),
      order: [...order],
    };
    const state: QuizState = {
      quiz,
      answer,
      revealsAutomatically: newQuiz.reveal !== 'manual',
      state: 'open',
      quizInterval: null,
      answers: new Map(),
    };
    this.#quizzes.set(quiz.id, state);
    this.#game.push(state);
    return quiz;
  }

  /** @returns the results to publish; null when they already are */
  reveal(quizId: string): QuizResults | null {
    const quizState = this.#find(quizId);
    if (quizState.state === 'open') throw new Error('The quiz is still open.');
    if (quizState.state === 'revealed') return null;
    quizState.state = 'revealed';
    return resultsOf(quizState);
  }

  answersTo(quizId: string): ReadonlyMap<string, string> {
    return this.#find(quizId).answers;
  }

  /** Opens a round. @throws Error while a quiz of the game, or a round, is open */
  requestWinners(): void {
    if (this.#round) throw new Error('Winners have already been requested.');
    if (this.#game.some(({ state }) => state !== 'revealed')) {
      throw new Error('A quiz of this game is still open, or not revealed.');
    }
    const winners = new Set<string>();
    this.#round = { game: this.#game, winners, countInterval: null };
    this.winners = winners;
    this.#game = [];
  }

  /** @throws MockProblem 404, 400 or 409 */
  answer(viewer: MockViewer, quizId: string, body: Record<string, unknown>, nowMs: number): void {
    const { choice, closeInterval, streamId } = body;
    const hasTexts = typeof streamId === 'string' && typeof choice === 'string';
    if (!hasTexts || !Number.isInteger(closeInterval)) {
      throw new MockProblem(400, 'Send streamId, choice and closeInterval.');
    }
    if (streamId !== this.streamId) throw new MockProblem(401, 'The token is of another stream.');
    const quizState = this.#quizzes.get(quizId);
    if (!quizState) throw new MockProblem(404, 'There is no such quiz in this stream.');
    const { quiz, answers, state } = quizState;
    if (!quiz.order.includes(choice)) throw new MockProblem(400, 'choice: is none of the quiz.');
    if (closeInterval !== quiz.closeInterval) {
      throw new MockProblem(400, 'closeInterval: must be that of the quiz event.');
    }
    const first = answers.get(viewer.identifier);
    if (first === choice) return;
    if (first !== undefined) {
      throw new MockProblem(409, 'You gave another answer to this quiz; the first one stands.');
    }
    if (state !== 'open' || intervalAt(nowMs) >= quiz.closeInterval) {
      throw new MockProblem(409, 'The quiz is closed.');
    }
    answers.set(viewer.identifier, choice);
  }

  /** @throws MockProblem 409 without an open round, 401 when the viewer has not won */
  recordWinner({ identifier }: MockViewer, nowMs: number): void {
    const isRecent = intervalAt(nowMs) <= this.#closeInterval + WINNERS_REPEATED_INTERVALS;
    if (!this.#round && isRecent && this.winners.has(identifier)) return;
    if (!this.#round) throw new MockProblem(409, 'No winners are requested now.');
    const { game, winners } = this.#round;
    if (game.some(({ answers, answer }) => answers.get(identifier) !== answer)) {
      throw new MockProblem(401, 'Not every quiz of this game was answered correctly.');
    }
    winners.add(identifier);
  }

  /** Sets the interval that contains `request-quiz-winners`. */
  setRequestInterval(interval: number): void {
    if (this.#round) this.#round.countInterval = interval + WINNERS_DELAY_INTERVALS;
  }

  /** Sets the interval that contains the `quiz` event. */
  setQuizInterval(quizId: string, interval: number): void {
    const quizState = this.#quizzes.get(quizId);
    if (quizState) quizState.quizInterval ??= interval;
  }

  /** Interval of the open quiz's event, of several the newest (SPEC S-17); null: none is open. */
  openQuizInterval(interval: number): number | null {
    const isOpen = ({ state, quizInterval, quiz }: QuizState) =>
      state === 'open' && quizInterval !== null && quiz.closeInterval > interval;
    return [...this.#quizzes.values()].findLast(isOpen)?.quizInterval ?? null;
  }

  /** Events that are due when this interval is sealed: results, and the count of winners. */
  eventsDueIn(interval: number): StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const quizState of this.#quizzes.values()) {
      if (quizState.state !== 'open' || quizState.quiz.closeInterval > interval) continue;
      quizState.state = quizState.revealsAutomatically ? 'revealed' : 'closed';
      if (quizState.revealsAutomatically)
        events.push({ type: 'quiz-results', data: resultsOf(quizState) });
    }
    if (this.#round?.countInterval === interval) {
      events.push({ type: 'quiz-winners', data: { count: this.#round.winners.size } });
      this.#round = null;
      this.#closeInterval = interval;
    }
    return events;
  }

  #find(quizId: string): QuizState {
    const quizState = this.#quizzes.get(quizId);
    if (!quizState) throw new Error(`There is no quiz ${quizId}.`);
    return quizState;
  }
}

function resultsOf({ quiz, answer, answers }: QuizState): QuizResults {
  return { ...quiz, choices: countAnswers(quiz.order, [...answers.values()]), answer };
}

/** Counts and whole percentages that add up to 100, by largest remainder (SPEC ). */
function countAnswers(order: readonly string[], answers: readonly string[]) {
  const counts = order.map((choice) => answers.filter((given) => given === choice).length);
  const exact = counts.map((count) => (count * 100) / Math.max(answers.length, 1));
  const shares = exact.map(Math.floor);
  const missing = answers.length === 0 ? 0 : 100 - shares.reduce((sum, share) => sum + share, 0);
  const remainder = (at: number) => ((counts[at] as number) * 100) % answers.length;
  const largestFirst = [...order.keys()].sort((a, b) => remainder(b) - remainder(a));
  for (const at of largestFirst.slice(0, missing)) (shares[at] as number) += 1;
  const entries = order.map((choice, at) => [
    choice,
    { count: counts[at], percentage: shares[at] } as ChoiceCount,
  ]);
  return Object.fromEntries(entries) as Record<string, ChoiceCount>;
}
