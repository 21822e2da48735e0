import { intervalAt } from '../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../protocol/limits.ts';
import type { EventsInterval, Quiz, QuizResults } from './types.ts';
import type { AnswerOutcome, ViewerQuiz, Winners } from './viewer.ts';

/** A quiz, as far as this viewer knows it. Stored: field names must not change. */
interface QuizEntry {
  readonly quiz: Quiz;
  /** Interval of its `quiz` event. */
  readonly interval: number;
  /** Whether its event arrived in the feed; false: it was learned later, or from its results. */
  readonly isSeen: boolean;
  choice: string | null;
  outcome: AnswerOutcome | null;
  results: { readonly interval: number; readonly data: QuizResults } | null;
}

/** A request for the winners. Stored: field names must not change. */
interface Round {
  readonly interval: number;
  /** The `quiz-winners` event; `count` is null when it was missed. */
  published: { readonly interval: number; readonly count: number | null } | null;
  hasWon: boolean;
}

interface GameState {
  // Stored: field names must not change.
  /** All intervals from this one on arrived; infinite (stored as null): none has arrived. */
  knownFrom: number;
  /** The first interval that has not arrived. */
  next: number;
  quizzes: QuizEntry[];
  /** Ordered by interval. */
  rounds: Round[];
}

/** How long results stay on screen, in intervals. */
const RESULTS_INTERVALS = 40;
/**
 * The longest take 10,000 characters each with their results, and a browser keeps 5 million for all shows. Reports of
 * a game with more quizzes are sent without knowledge after a reload.
 */
const STORED_QUIZZES = 40;
/** Greater than any interval: open quizzes rank above others. */
const OPEN_RANK = 1e12;

/**
 * The quizzes of a stream and this viewer's answers to them. It is updated as soon as intervals arrive,
 * and queried for the interval on screen.
 */
export class QuizGame {
  readonly #state: GameState;

  /** @param saved `serialize()` of this viewer's last visit; null: none */
  constructor(saved: string | null) {
    this.#state = parse(saved) ?? { knownFrom: Infinity, next: 0, quizzes: [], rounds: [] };
  }

  /** The first interval of the feed that has not arrived, last visit included; 0: none has. */
  get next(): number {
    return this.#state.next;
  }

  /**
   * Adds the next interval of the feed.
   * @param isBeginning whether there was no quiz before it
   * @returns whether intervals before it are missing
   */
  receive(interval: EventsInterval, isBeginning: boolean): boolean {
    const state = this.#state;
    const number = interval.interval;
    const isAfterGap = number > state.next;
    if (state.knownFrom === Infinity) state.knownFrom = isBeginning ? 0 : number;
    else if (isAfterGap) this.#onGap(number);
    state.next = Math.max(state.next, number + 1);
    this.apply(interval);
    return isAfterGap;
  }

  /** Whether the quiz that was published in this interval is known. */
  hasQuizAt(published: number): boolean {
    return this.#state.quizzes.some(({ interval }) => interval === published);
  }

  /**
   * Adds the quiz events of an interval, live or from a recording.
   * @param isLate whether its quiz was missed when it was published
   */
  apply({ interval, events }: EventsInterval, isLate?: boolean): void {
    for (const { type, data } of events) {
      if (type === 'quiz') this.#addQuiz(data as Quiz, interval, !isLate);
      else if (type === 'quiz-results') this.#addResults(data as QuizResults, interval);
      else if (type === 'request-quiz-winners') this.#findOrAddRound(interval);
      else if (type === 'quiz-winners')
        this.#addWinnerCount((data as { count: number }).count, interval);
    }
  }

  /**
   * Sets the choice (null: the service rejected it) or the outcome of the answer, unless the quiz was published
   * again since.
   */
  update(quiz: Quiz, changes: Partial<Pick<QuizEntry, 'choice' | 'outcome'>>): void {
    Object.assign(this.#state.quizzes.find((entry) => entry.quiz === quiz) ?? {}, changes);
  }

  /**
   * Adds what another tab of this viewer stored. Of two answers to a quiz the counted one is kept,
   * else that of this tab. An answer without an outcome is ignored: that tab is still sending it.
   * @param saved `serialize()` of the other tab
   */
  merge(saved: string): void {
    const state = this.#state;
    const other = parse(saved);
    if (!other) return;
    for (const { quiz, interval, isSeen, choice, outcome, results } of other.quizzes) {
      const own = this.#addQuiz(quiz, interval, isSeen);
      own.results ??= results;
      const isOtherBetter = own.choice === null ? outcome : own.outcome && outcome === 'counted';
      if (isOtherBetter) Object.assign(own, { choice, outcome });
    }
    for (const { interval, published, hasWon } of other.rounds) {
      const own = this.#findOrAddRound(interval);
      own.published ??= published;
      own.hasWon ||= hasWon;
    }
    const { knownFrom, next } = other;
    // When there is a gap between the two ranges, only the own range is complete.
    if (knownFrom > state.next || state.knownFrom > next) return;
    state.knownFrom = Math.min(state.knownFrom, knownFrom);
    state.next = Math.max(state.next, next);
  }

  /** The service counts this viewer among the winners of this round. */
  recordWin(roundInterval: number): void {
    this.#findOrAddRound(roundInterval).hasWon = true;
  }

  /** Answers without an outcome, of the last visit. */
  get pendingAnswers(): readonly Pick<QuizEntry, 'quiz' | 'choice'>[] {
    return this.#state.quizzes.filter(({ choice, outcome }) => choice && !outcome);
  }

  /** Rounds of the last visit and since. */
  get rounds(): readonly Readonly<Round>[] {
    return this.#state.rounds;
  }

  /** When the last quiz without results closes; 0: there is none. */
  get lastCloseInterval(): number {
    const { quizzes } = this.#state;
    return Math.max(0, ...quizzes.map(({ quiz, results }) => (results ? 0 : quiz.closeInterval)));
  }

  /**
   * The quiz on screen: the newest open quiz, else the newest one.
   * @param from the target of the last jump: quizzes of skipped intervals were not shown
   */
  quizAt(interval: number, from = 0): ViewerQuiz | null {
    const { quizzes, knownFrom, next } = this.#state;
    // What the feed brought is known, whatever playback skips.
    const knownSince = from > next ? from : Math.min(knownFrom, next);
    let shown: ViewerQuiz | null = null;
    let shownRank = 0;
    for (const entry of quizzes) {
      const { quiz, choice, outcome, results } = entry;
      const published = ifReached(results, interval);
      const isOpen = !published && interval < quiz.closeInterval;
      const isOver = published
        ? interval >= published.interval + RESULTS_INTERVALS
        : // The results of a quiz that closed while the viewer was absent may never arrive.
          !isOpen && !results && quiz.closeInterval < knownSince;
      const rank = (published ?? entry).interval + (isOpen ? OPEN_RANK : 0);
      if (isOver || entry.interval > interval || rank < shownRank) continue;
      shownRank = rank;
      shown = { quiz, choice, outcome, results: published?.data ?? null };
    }
    return shown;
  }

  /** The winners, as known at the interval on screen. */
  winnersAt(interval: number): Winners {
    const last = this.#state.rounds.findLast(({ published }) => ifReached(published, interval));
    return {
      isWinning: this.isWinning(interval),
      hasWon: last?.hasWon ?? false,
      count: last?.published?.count ?? null,
    };
  }

  /**
   * Whether the viewer answered all quizzes of the game correctly, by the results up to this interval.
   * A game ends with `quiz-winners`. null: not known.
   */
  isWinning(interval: number): boolean | null {
    const { knownFrom, quizzes, rounds } = this.#state;
    let gameStart = 0;
    let gameEnd = Infinity;
    for (const round of rounds) {
      if (ifReached(round.published, interval)) {
        gameStart = round.interval;
        gameEnd = Infinity;
      } else if (round.interval <= interval) gameEnd = round.interval;
    }
    let isWinning = knownFrom <= gameStart ? true : null;
    for (const entry of quizzes) {
      const published = ifReached(entry.results, interval);
      if (!published || entry.interval < gameStart || entry.interval >= gameEnd) continue;
      const isRight = isCorrect(entry, published.data.answer);
      if (isRight === false) return false;
      isWinning = isRight && isWinning;
    }
    return isWinning;
  }

  /** @returns JSON of the current and the previous game, at most their newest quizzes, for the constructor and `merge` */
  serialize(): string {
    const { quizzes, rounds, knownFrom } = this.#state;
    const from = Math.max(rounds.at(-2)?.interval ?? 0, quizzes.at(-STORED_QUIZZES)?.interval ?? 0);
    return JSON.stringify({
      ...this.#state,
      knownFrom: Math.max(knownFrom, from),
      quizzes: quizzes.filter(({ interval }) => interval >= from),
      rounds: rounds.slice(-2),
    });
  }

  #addQuiz(quiz: Quiz, interval: number, isSeen: boolean): QuizEntry {
    const known = this.#state.quizzes.find((entry) => entry.quiz.id === quiz.id);
    if (known && known.quiz.created >= quiz.created) return known;
    const entry: QuizEntry = { quiz, interval, isSeen, choice: null, outcome: null, results: null };
    // The service lost the first publication with its answers, and the quiz was published again.
    if (known) return Object.assign(known, entry);
    this.#state.quizzes.push(entry);
    return entry;
  }

  #addResults(data: QuizResults, interval: number): void {
    // When the quiz event was missed, it was published about when the quiz was created.
    this.#addQuiz(data, intervalAt(data.created), false).results ??= { interval, data };
  }

  #findOrAddRound(interval: number): Round {
    const { rounds } = this.#state;
    const known = rounds.find((round) => round.interval === interval);
    if (known) return known;
    const round: Round = { interval, published: null, hasWon: false };
    rounds.push(round);
    rounds.sort((a, b) => a.interval - b.interval);
    return round;
  }

  #addWinnerCount(count: number, interval: number): void {
    const latest = this.#state.rounds.findLast((round) => round.interval < interval);
    const isMissed = !latest || (latest.published && latest.published.interval !== interval);
    const round = isMissed ? this.#findOrAddRound(interval - WINNERS_DELAY_INTERVALS) : latest;
    round.published ??= { interval, count };
  }

  /** Intervals before this one may be missing. */
  #onGap(until: number): void {
    this.#state.knownFrom = until;
    for (const round of this.#state.rounds) round.published ??= { interval: until, count: null };
  }
}

/** @returns the event if it was published at or before this interval */
function ifReached<T extends { readonly interval: number }>(event: T | null, interval: number) {
  return event && event.interval <= interval ? event : null;
}

/** Whether the answer is correct and counts; null: not known. */
function isCorrect({ choice, outcome, isSeen }: QuizEntry, answer: string): boolean | null {
  // A quiz whose event was missed may have been answered on a visit that was not stored.
  if (choice === null) return isSeen ? false : null;
  const isRight = choice === answer;
  if (outcome === 'counted') return isRight;
  if (outcome === 'too-late') return false;
  // `other-answer`: the counted answer is not this one. `unknown`: nothing is known.
  return isRight === (outcome === 'other-answer') ? false : null;
}

function parse(saved: string | null): GameState | null {
  try {
    const state = JSON.parse(saved as string);
    // Values of another shape have no such lists, and throw here.
    state.quizzes.concat(...state.rounds);
    state.knownFrom ??= Infinity;
    return state;
  } catch {
    return null;
  }
}
