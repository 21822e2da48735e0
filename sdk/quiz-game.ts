import { intervalAt } from '../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../protocol/limits.ts';
import type { EventsInterval, Quiz, QuizResults } from './types.ts';
import type { AnswerOutcome, ViewerQuiz, Winners } from './viewer.ts';

/** A quiz, as far as this viewer knows of it. */
interface Asked {
  readonly quiz: Quiz;
  /** When it was told. */
  readonly interval: number;
  /** Whether it came when it was told; else later, or only its results did. */
  readonly isSeen: boolean;
  choice: string | null;
  outcome: AnswerOutcome | null;
  results: { readonly interval: number; readonly data: QuizResults } | null;
}

/** A request for the winners. */
interface Round {
  readonly interval: number;
  /** `count` is null when it was missed. */
  told: { readonly interval: number; readonly count: number | null } | null;
  hasWon: boolean;
}

interface GameRecord {
  /** Nothing was missed from this interval on; infinite, which is kept as null: none has come yet. */
  knownFrom: number;
  /** The first interval that has not come. */
  next: number;
  quizzes: Asked[];
  /** In the order of their intervals. */
  rounds: Round[];
}

/** How long results are on screen, in intervals. */
const RESULTS_SHOWN = 40;
/** More than any interval: what is open goes before what is told. */
const OPEN_FIRST = 1e12;

/**
 * What a viewer knows of the quizzes of a stream, and did with them. It learns everything as soon as
 * it is here, and says what is known where the picture is: at the interval on screen.
 */
export class QuizGame {
  readonly #record: GameRecord;

  /** @param saved of this viewer's last visit, as `saved` gave it; null: there was none */
  constructor(saved: string | null) {
    this.#record = parse(saved) ?? { knownFrom: Infinity, next: 0, quizzes: [], rounds: [] };
  }

  /** The first interval of the feed that has not come, on the last visit neither; 0: none has. */
  get next(): number {
    return this.#record.next;
  }

  /**
   * The next interval of the feed is here.
   * @param isBeginning whether no quiz was before it
   * @returns whether those before it did not come
   */
  arrived(interval: EventsInterval, isBeginning: boolean): boolean {
    const record = this.#record;
    const number = interval.interval;
    const isAfterHole = number > record.next;
    if (record.knownFrom === Infinity) record.knownFrom = isBeginning ? 0 : number;
    else if (isAfterHole) this.#missed(number);
    record.next = Math.max(record.next, number + 1);
    this.learn(interval);
    return isAfterHole;
  }

  /** Whether a quiz is known that was told then. */
  hasQuizOf(told: number): boolean {
    return this.#record.quizzes.some(({ interval }) => interval === told);
  }

  /**
   * What an interval tells of quizzes: of the feed, or of a recording.
   * @param isLate whether it comes later than it was told
   */
  learn({ interval, events }: EventsInterval, isLate?: boolean): void {
    for (const { type, data } of events) {
      if (type === 'quiz') this.#asked(data as Quiz, interval, !isLate);
      else if (type === 'quiz-results') this.#revealed(data as QuizResults, interval);
      else if (type === 'request-quiz-winners') this.#round(interval);
      else if (type === 'quiz-winners') this.#counted((data as { count: number }).count, interval);
    }
  }

  /** What the viewer chose (null: it was not taken), or what became of it. */
  note(quizId: string, news: Partial<Pick<Asked, 'choice' | 'outcome'>>): void {
    Object.assign(this.#find(quizId) ?? {}, news);
  }

  /**
   * Takes over what this viewer knows and did in another tab. Of two answers the one that counts
   * stands, else the one of this tab; what is on its way there is left to it.
   * @param saved as `saved` gave it there
   */
  merge(saved: string): void {
    const record = this.#record;
    const other = parse(saved);
    if (!other) return;
    for (const { quiz, interval, isSeen, choice, outcome, results } of other.quizzes) {
      const ours = this.#asked(quiz, interval, isSeen);
      ours.results ??= results;
      const isTheirs = ours.choice === null ? outcome : ours.outcome && outcome === 'counted';
      if (isTheirs) Object.assign(ours, { choice, outcome });
    }
    for (const { interval, told, hasWon } of other.rounds) {
      const ours = this.#round(interval);
      ours.told ??= told;
      ours.hasWon ||= hasWon;
    }
    const { knownFrom, next } = other;
    // With a hole between what is known here and there, only what is known here has none.
    if (knownFrom > record.next || record.knownFrom > next) return;
    record.knownFrom = Math.min(record.knownFrom, knownFrom);
    record.next = Math.max(record.next, next);
  }

  /** The service counts this viewer among the winners that were asked for then. */
  won(roundInterval: number): void {
    this.#round(roundInterval).hasWon = true;
  }

  /** Answers that nobody has heard of yet: those of the last visit. */
  get unsettled(): readonly Pick<Asked, 'quiz' | 'choice'>[] {
    return this.#record.quizzes.filter(({ choice, outcome }) => choice !== null && !outcome);
  }

  /** The requests for winners of the last visit, and since. */
  get rounds(): readonly Pick<Round, 'interval'>[] {
    return this.#record.rounds;
  }

  /** When the last quiz closes that there are no results of; 0: there is none. */
  get openUntil(): number {
    const { quizzes } = this.#record;
    return Math.max(0, ...quizzes.map(({ quiz, results }) => (results ? 0 : quiz.closeInterval)));
  }

  /**
   * The quiz on screen: the newest that is open, else what was told last.
   * @param from where the picture jumped to last: what was told between was not shown
   */
  quizAt(interval: number, from = 0): ViewerQuiz | null {
    const { quizzes, knownFrom, next } = this.#record;
    // What the feed brought is known, whatever the picture jumps over.
    const heardFrom = from > next ? from : Math.min(knownFrom, next);
    let shown: ViewerQuiz | null = null;
    let shownRank = 0;
    for (const asked of quizzes) {
      const { quiz, choice, outcome, results } = asked;
      const told = toldAt(results, interval);
      const isOpen = !told && interval < quiz.closeInterval;
      const isOver = told
        ? interval >= told.interval + RESULTS_SHOWN
        : // Nobody may ever hear of the results of one that closed while nobody was here.
          !isOpen && !results && quiz.closeInterval < heardFrom;
      const rank = (told ?? asked).interval + (isOpen ? OPEN_FIRST : 0);
      if (isOver || asked.interval > interval || rank < shownRank) continue;
      shownRank = rank;
      shown = { quiz, choice, outcome, results: told?.data ?? null };
    }
    return shown;
  }

  /** Where the winners are, as it is known on screen. */
  winnersAt(interval: number): Winners {
    const last = this.#record.rounds.findLast(({ told }) => toldAt(told, interval));
    return {
      isWinning: this.isWinning(interval),
      hasWon: last?.hasWon ?? false,
      count: last?.told?.count ?? null,
    };
  }

  /**
   * Whether the viewer has answered all quizzes of the game correctly, by the results until then.
   * A game is over when its winners are told. null: it cannot be known.
   */
  isWinning(interval: number): boolean | null {
    const { knownFrom, quizzes, rounds } = this.#record;
    const [last, before] = rounds.filter((round) => round.interval <= interval).reverse();
    const running = last && !toldAt(last.told, interval) ? last : null;
    const from = (running ? before : last)?.interval ?? 0;
    let isWinning = knownFrom <= from ? true : null;
    for (const asked of quizzes) {
      const told = toldAt(asked.results, interval);
      const isOfGame = asked.interval >= from && !(running && asked.interval >= running.interval);
      if (!told || !isOfGame) continue;
      const isRight = isCorrect(asked, told.data.answer);
      if (isRight === false) return false;
      isWinning = isRight && isWinning;
    }
    return isWinning;
  }

  /** @returns what the constructor takes: of the present game and the one before */
  saved(): string {
    const { quizzes, rounds, knownFrom } = this.#record;
    const from = rounds.at(-2)?.interval ?? 0;
    return JSON.stringify({
      ...this.#record,
      knownFrom: Math.max(knownFrom, from),
      quizzes: quizzes.filter(({ interval }) => interval >= from),
      rounds: rounds.slice(-2),
    });
  }

  #find(quizId: string): Asked | undefined {
    return this.#record.quizzes.find(({ quiz }) => quiz.id === quizId);
  }

  #asked(quiz: Quiz, interval: number, isSeen: boolean): Asked {
    const known = this.#find(quiz.id);
    if (known) return known;
    const asked: Asked = { quiz, interval, isSeen, choice: null, outcome: null, results: null };
    this.#record.quizzes.push(asked);
    return asked;
  }

  #revealed(data: QuizResults, interval: number): void {
    // Where it was asked while nobody was here, it was about when it was made.
    this.#asked(data, intervalAt(data.created), false).results ??= { interval, data };
  }

  #round(interval: number): Round {
    const { rounds } = this.#record;
    const known = rounds.find((round) => round.interval === interval);
    if (known) return known;
    const round: Round = { interval, told: null, hasWon: false };
    rounds.push(round);
    rounds.sort((a, b) => a.interval - b.interval);
    return round;
  }

  #counted(count: number, interval: number): void {
    const asked = this.#record.rounds.findLast((round) => round.interval < interval);
    const isOther = !asked || (asked.told && asked.told.interval !== interval);
    const round = isOther ? this.#round(interval - WINNERS_DELAY_INTERVALS) : asked;
    round.told ??= { interval, count };
  }

  /** What was told before this interval may not have been heard. */
  #missed(until: number): void {
    this.#record.knownFrom = until;
    for (const round of this.#record.rounds) round.told ??= { interval: until, count: null };
  }
}

/** @returns what was told, if it was by then */
function toldAt<T extends { readonly interval: number }>(told: T | null, interval: number) {
  return told && told.interval <= interval ? told : null;
}

/** Whether an answer is correct and counts; null: it cannot be known. */
function isCorrect({ choice, outcome, isSeen }: Asked, answer: string): boolean | null {
  // One that was not seen may have been answered on a visit that nothing was kept of.
  if (choice === null) return isSeen ? false : null;
  const isRight = choice === answer;
  if (outcome === 'counted') return isRight;
  if (outcome === 'too-late') return false;
  // Of the other answer it is known that it is not this one; of one that is unknown, nothing.
  return isRight === (outcome === 'other-answer') ? false : null;
}

function parse(saved: string | null): GameRecord | null {
  try {
    const record = JSON.parse(saved as string);
    // None, and those of another shape have no such lists, and throw here.
    record.quizzes.concat(...record.rounds);
    record.knownFrom ??= Infinity;
    return record;
  } catch {
    return null;
  }
}
