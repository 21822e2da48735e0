import { intervalAt } from '../../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../../protocol/limits.ts';
import type { ChoiceCount, Quiz, QuizResults, StreamEvent } from '../types.ts';
import { MockProblem } from './mock-replies.ts';
import type { MockViewer } from './mock-tokens.ts';

/** A quiz to ask. */
export interface NewQuiz {
  readonly question?: string | undefined;
  /** At least two. */
  readonly choices: readonly string[];
  /** The correct one. */
  readonly answer: string;
  /** How long it is open, ms; 10 s by default. */
  readonly durationMs?: number | undefined;
  /** `auto` (default): with the close; `manual`: when `reveal` is called. */
  readonly reveal?: 'auto' | 'manual' | undefined;
}

interface Asked {
  readonly quiz: Quiz;
  readonly answer: string;
  readonly isRevealedByItself: boolean;
  state: 'open' | 'closed' | 'revealed';
  /** The interval of its `quiz` event; null before that is sealed. */
  told: number | null;
  /** Choices by what the app calls the viewer. */
  readonly answers: Map<string, string>;
}

interface Round {
  readonly game: readonly Asked[];
  readonly winners: Set<string>;
  /** The interval that tells the count; null until the request is in the feed. */
  due: number | null;
}

/** Quizzes, answers and winners (SPEC Q, W). */
export class MockQuizzes {
  readonly #quizzes = new Map<string, Asked>();
  /** Those since the last request of winners. */
  #game: Asked[] = [];
  #round: Round | null = null;
  /** Of the last round, open or not. */
  winners: ReadonlySet<string> = new Set();

  constructor(
    readonly streamId: string,
    readonly latencyAllowanceMs: number,
  ) {}

  open(asked: NewQuiz, created: number): Quiz {
    const { question = 'A question?', choices: order, answer, durationMs = 10_000 } = asked;
    if (new Set(order).size !== order.length || order.length < 2 || !order.includes(answer)) {
      throw new Error('A quiz has at least two choices, all different, and one is the answer.');
    }
    const number = String(this.#quizzes.size + 1).padStart(12, '0');
    const quiz: Quiz = {
      id: `0f8fad5b-d9cb-469f-a165-${number}`,
      streamId: this.streamId,
      created,
      duration: durationMs,
      closeInterval: intervalAt(created + durationMs + this.latencyAllowanceMs + 249),
      question,
      choices: counted(order, []),
      order: [...order],
    };
    const isRevealedByItself = asked.reveal !== 'manual';
    const one: Asked = {
      quiz,
      answer,
      isRevealedByItself,
      state: 'open',
      told: null,
      answers: new Map(),
    };
    this.#quizzes.set(quiz.id, one);
    this.#game.push(one);
    return quiz;
  }

  /** @returns the results, unless they were told before */
  reveal(quizId: string): QuizResults | null {
    const asked = this.#asked(quizId);
    if (asked.state === 'open') throw new Error('The quiz is still open.');
    if (asked.state === 'revealed') return null;
    asked.state = 'revealed';
    return resultsOf(asked);
  }

  answersTo(quizId: string): ReadonlyMap<string, string> {
    return this.#asked(quizId).answers;
  }

  /** Opens a round. @throws Error while a quiz of the game, or a round, is open */
  requestWinners(): void {
    if (this.#round) throw new Error('Winners are asked for already.');
    if (this.#game.some(({ state }) => state !== 'revealed')) {
      throw new Error('A quiz of this game is still open, or not revealed.');
    }
    const winners = new Set<string>();
    this.#round = { game: this.#game, winners, due: null };
    this.winners = winners;
    this.#game = [];
  }

  /** @throws MockProblem 404, 400 or 409 */
  answer(viewer: MockViewer, quizId: string, body: Record<string, unknown>, nowMs: number): void {
    const { choice, closeInterval, streamId } = body;
    if (
      typeof streamId !== 'string' ||
      typeof choice !== 'string' ||
      !Number.isInteger(closeInterval)
    ) {
      throw new MockProblem(400, 'Send streamId, choice and closeInterval.');
    }
    if (streamId !== this.streamId) throw new MockProblem(401, 'The token is of another stream.');
    const asked = this.#quizzes.get(quizId);
    if (!asked) throw new MockProblem(404, 'There is no such quiz in this stream.');
    const { quiz, answers, state } = asked;
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

  /** @throws MockProblem 409 without a round, 401 for who has not won */
  recordWinner({ identifier }: MockViewer): void {
    if (!this.#round) throw new MockProblem(409, 'No winners are asked for now.');
    const { game, winners } = this.#round;
    if (game.some(({ answers, answer }) => answers.get(identifier) !== answer)) {
      throw new MockProblem(401, 'Not every quiz of this game was answered correctly.');
    }
    winners.add(identifier);
  }

  /** A `request-quiz-winners` is in this interval. */
  requestedIn(interval: number): void {
    if (this.#round) this.#round.due = interval + WINNERS_DELAY_INTERVALS;
  }

  /** A `quiz` is in this interval. */
  toldIn(quizId: string, interval: number): void {
    const asked = this.#quizzes.get(quizId);
    if (asked) asked.told ??= interval;
  }

  /** The interval that told the quiz that is open, of several the last one (SPEC S-17). */
  openAt(interval: number): number | null {
    const isOpen = ({ state, told, quiz }: Asked) =>
      state === 'open' && told !== null && quiz.closeInterval > interval;
    return [...this.#quizzes.values()].findLast(isOpen)?.told ?? null;
  }

  /** What falls due with the sealing of an interval: results, and the count of winners. */
  due(interval: number): StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const asked of this.#quizzes.values()) {
      if (asked.state !== 'open' || asked.quiz.closeInterval > interval) continue;
      asked.state = asked.isRevealedByItself ? 'revealed' : 'closed';
      if (asked.isRevealedByItself) events.push({ type: 'quiz-results', data: resultsOf(asked) });
    }
    if (this.#round?.due === interval) {
      events.push({ type: 'quiz-winners', data: { count: this.#round.winners.size } });
      this.#round = null;
    }
    return events;
  }

  #asked(quizId: string): Asked {
    const asked = this.#quizzes.get(quizId);
    if (!asked) throw new Error(`There is no quiz ${quizId}.`);
    return asked;
  }
}

function resultsOf({ quiz, answer, answers }: Asked): QuizResults {
  return { ...quiz, choices: counted(quiz.order, [...answers.values()]), answer };
}

/** Counts and whole percentages that add up to 100, by largest remainder (SPEC ). */
function counted(order: readonly string[], answers: readonly string[]) {
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
