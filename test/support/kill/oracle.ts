import type { QuizResults } from '../../../protocol/quizzes.ts';

/** What a client learnt of a request: yes, no, or nothing (a reset, a time-out, a 503). */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** A quiz that the service acknowledged to have published. */
export interface PublishedQuiz {
  readonly id: string;
  readonly choices: readonly string[];
  readonly answer: string;
  readonly closeInterval: number;
}

/** An event of the feed, with the interval it was read in. */
export interface ReadEvent {
  readonly interval: number;
  readonly type: string;
  readonly data: unknown;
}

/** Rows of the producer's exports. */
export interface AnswerRow {
  readonly quizId: string;
  readonly viewer: string;
  readonly choice: string;
}
export interface WinnerRow {
  readonly roundId: string;
  readonly viewer: string;
}

interface Attempts {
  /** The choice that was acknowledged, if one was. */
  choice: string | null;
  /** The choice that the viewer gave up on without a yes or a no: it may count or not. */
  maybe: string | null;
}

interface Round {
  readonly id: string;
  readonly quizzes: readonly PublishedQuiz[];
  readonly won: Set<string>;
  /** Claims that nobody heard a yes or no of: they may count or not. */
  readonly maybe: Set<string>;
}

/**
 * Sees what clients sent and received, and nothing else. Says what the service must have done, and
 * collects every way in which it did not. Viewers go by the `sub` of their tokens.
 */
export class Oracle {
  readonly figures = { acknowledged: 0, refused: 0, unknown: 0, claims: 0, events: 0, bodies: 0 };
  private readonly quizzes = new Map<string, PublishedQuiz>();
  private readonly answers = new Map<string, Map<string, Attempts>>();
  private readonly rounds: Round[] = [];
  private readonly producerEvents = new Set<number>();
  private readonly maybeEvents = new Set<number>();
  private readonly bodies = new Map<number, string>();

  /**
   * @param violations what it finds; oracles of several streams may share the list
   * @param onNew told of the events of each interval, when somebody is served it first
   */
  constructor(
    readonly violations: string[] = [],
    private readonly name = '',
    private readonly onNew: (event: ReadEvent) => void = () => {},
  ) {}

  published(quiz: PublishedQuiz): void {
    this.expect(!this.quizzes.has(quiz.id), `quiz ${quiz.id} was published twice`);
    this.quizzes.set(quiz.id, quiz);
    this.answers.set(quiz.id, this.answers.get(quiz.id) ?? new Map());
  }

  /** A viewer sent an answer and this is what came back; a client sends one at a time. */
  answered(quizId: string, viewer: string, choice: string, outcome: Outcome): void {
    this.figures[outcome]++;
    const attempts = this.attemptsOf(quizId, viewer);
    if (outcome === 'refused') {
      const own = attempts.choice === choice;
      this.expect(!own, `${viewer}: the answer that counts was refused when sent again`);
    }
    if (outcome !== 'acknowledged') return;
    const other = attempts.choice !== null && attempts.choice !== choice;
    this.expect(!other, `${viewer}: two answers to quiz ${quizId} were acknowledged`);
    attempts.choice ??= choice;
  }

  /** A viewer heard neither yes nor no of this answer, and sends it no more. */
  gaveUp(quizId: string, viewer: string, choice: string): void {
    this.attemptsOf(quizId, viewer).maybe = choice;
  }

  /** Whether a viewer answered all of these quizzes right, and was told so. */
  hasWon(quizzes: readonly PublishedQuiz[], viewer: string): boolean {
    return quizzes.every(({ id, answer }) => this.attemptsOf(id, viewer).choice === answer);
  }

  private mayHaveWon(quizzes: readonly PublishedQuiz[], viewer: string): boolean {
    return quizzes.every(({ id, answer }) => {
      const { choice, maybe } = this.attemptsOf(id, viewer);
      return (choice ?? maybe) === answer;
    });
  }

  roundOpened(id: string, quizzes: readonly PublishedQuiz[]): void {
    this.expect(!this.rounds.some((round) => round.id === id), `round ${id} was opened twice`);
    this.rounds.push({ id, quizzes, won: new Set(), maybe: new Set() });
  }

  /** A viewer claims to have won the newest round: the status, and whether an earlier try is open. */
  claimed(viewer: string, status: 204 | 401 | 409, isRetry: boolean): void {
    const round = this.rounds.at(-1);
    if (!round) throw new Error('no round was opened');
    this.figures.claims++;
    const qualifies = this.hasWon(round.quizzes, viewer);
    if (status === 204) {
      const thinkable = this.mayHaveWon(round.quizzes, viewer);
      this.expect(thinkable, `${viewer} won round ${round.id} without the right answers`);
      round.won.add(viewer);
    } else if (status === 401) {
      this.expect(!qualifies, `${viewer} answered all right and was refused in ${round.id}`);
    } else if (isRetry && qualifies) round.maybe.add(viewer);
  }

  /** The service acknowledged an event of the producer's, which carries this number. */
  eventAcknowledged(number: number): void {
    this.figures.events++;
    this.producerEvents.add(number);
  }

  /** Nobody will know whether the service took this event. */
  eventGivenUp(number: number): void {
    this.maybeEvents.add(number);
  }

  /** Somebody was served an interval. */
  served(interval: number, body: string): void {
    this.figures.bodies++;
    const first = this.bodies.get(interval);
    if (first !== undefined) {
      this.expect(first === body, `interval ${interval}: first ${first}, then ${body}`);
      return;
    }
    this.bodies.set(interval, body);
    for (const event of eventsOf(interval, body)) {
      const tells =
        event.type !== 'quiz-results' && JSON.stringify(event.data).includes('"answer"');
      this.expect(!tells, `interval ${interval} tells an answer before its results: ${body}`);
      this.onNew(event);
    }
  }

  /** All intervals that anybody ever read. */
  servedIntervals(): number[] {
    return [...this.bodies.keys()].sort((a, b) => a - b);
  }

  /** The whole feed, as it is read in the end. */
  checkFeed(events: readonly ReadEvent[]): void {
    const ofType = (type: string) => events.filter((event) => event.type === type);
    this.checkQuizzes(ofType('quiz'), ofType('quiz-results'));
    this.checkRounds(ofType('request-quiz-winners'), ofType('quiz-winners'));
    const custom = ofType('tick').map(({ data }) => (data as { number: number }).number);
    const purchases = ofType('chats').flatMap(({ data }) =>
      (data as { purchases: { text: string }[] }).purchases.map(({ text }) => Number(text)),
    );
    const sent = [...custom, ...purchases];
    this.expectOnce('producer event', this.producerEvents, sent, this.maybeEvents);
  }

  private checkQuizzes(asked: readonly ReadEvent[], results: readonly ReadEvent[]): void {
    const idOf = ({ data }: ReadEvent) => (data as { id: string }).id;
    this.expectOnce('quiz event', new Set(this.quizzes.keys()), asked.map(idOf));
    this.expectOnce('quiz-results event', new Set(this.quizzes.keys()), results.map(idOf));
    for (const event of results) this.checkResults(event);
  }

  /** The results of a quiz, when everybody who answers it has heard a yes or a no, or gave up. */
  checkResults({ interval, data }: ReadEvent): void {
    const told = data as QuizResults;
    const quiz = this.quizzes.get(told.id);
    if (!quiz) return;
    this.expect(interval >= quiz.closeInterval, `results of ${quiz.id} came before its close`);
    this.expect(told.answer === quiz.answer, `results of ${quiz.id} tell a wrong answer`);
    const given = [...(this.answers.get(quiz.id)?.values() ?? [])];
    for (const choice of quiz.choices) {
      const acknowledged = given.filter((attempts) => attempts.choice === choice).length;
      const open = given.filter(({ choice: own, maybe }) => own === null && maybe === choice);
      const counted = told.choices[choice]?.count ?? Number.NaN;
      this.expect(
        counted >= acknowledged && counted <= acknowledged + open.length,
        `results of ${quiz.id}: ${counted} for "${choice}", ` +
          `${acknowledged} were acknowledged and ${open.length} left open`,
      );
    }
  }

  private checkRounds(requests: readonly ReadEvent[], winners: readonly ReadEvent[]): void {
    const rounds = this.rounds.length;
    this.expect(requests.length === rounds, `${requests.length} requests for ${rounds} rounds`);
    this.expect(winners.length === rounds, `${winners.length} counts for ${rounds} rounds`);
    for (const [index, { won, maybe, id }] of this.rounds.entries()) {
      const told = winners[index];
      const requested = requests[index]?.interval ?? Number.NaN;
      if (!told) continue;
      const { count } = told.data as { count: number };
      const isRight = count >= won.size && count <= won.size + maybe.size;
      this.expect(isRight, `round ${id}: ${count} winners, ${won.size} were acknowledged`);
      this.expect(told.interval >= requested + 4, `round ${id} was counted within a second`);
    }
  }

  /** The answers that the service has, which must be those it acknowledged. */
  checkAnswers(rows: readonly AnswerRow[]): void {
    const recorded = rows.map(({ quizId, viewer, choice }) => `${quizId} ${viewer} ${choice}`);
    const acknowledged = new Set<string>();
    const open = new Set<string>();
    for (const [quizId, viewers] of this.answers) {
      for (const [viewer, { choice, maybe }] of viewers) {
        if (choice !== null) acknowledged.add(`${quizId} ${viewer} ${choice}`);
        else if (maybe !== null) open.add(`${quizId} ${viewer} ${maybe}`);
      }
    }
    this.expectOnce('answer', acknowledged, recorded, open);
  }

  /** The winners that the service has: those it acknowledged, and perhaps those nobody knows of. */
  checkWinners(rows: readonly WinnerRow[]): void {
    for (const { id, won, maybe } of this.rounds) {
      const recorded = rows.filter(({ roundId }) => roundId === id).map(({ viewer }) => viewer);
      const known = recorded.filter((viewer) => !maybe.has(viewer) || won.has(viewer));
      this.expectOnce(`winner of ${id}`, won, known);
      this.expect(new Set(recorded).size === recorded.length, `round ${id} has a winner twice`);
    }
  }

  /** What was acknowledged is there once, what is left open at most once, and nothing else is. */
  private expectOnce<T>(
    what: string,
    acknowledged: ReadonlySet<T>,
    found: readonly T[],
    open: ReadonlySet<T> = new Set(),
  ): void {
    const counts = new Map<T, number>();
    for (const item of found) counts.set(item, (counts.get(item) ?? 0) + 1);
    for (const item of acknowledged) {
      const times = counts.get(item) ?? 0;
      this.expect(times === 1, `${what} ${item}: acknowledged, and there ${times} times`);
    }
    for (const [item, times] of counts) {
      if (acknowledged.has(item)) continue;
      this.expect(open.has(item), `${what} ${item}: there, and never acknowledged`);
      this.expect(times === 1, `${what} ${item}: left open, and there ${times} times`);
    }
  }

  /** Notes a violation unless this holds. */
  expect(holds: boolean, violation: string): void {
    if (!holds) this.violations.push(this.name + violation);
  }

  private attemptsOf(quizId: string, viewer: string): Attempts {
    const viewers = this.answers.get(quizId) ?? new Map<string, Attempts>();
    this.answers.set(quizId, viewers);
    const attempts = viewers.get(viewer) ?? { choice: null, maybe: null };
    viewers.set(viewer, attempts);
    return attempts;
  }
}

/** The events of an interval, as its body has them. */
export function eventsOf(interval: number, body: string): ReadEvent[] {
  const { events } = JSON.parse(body) as { events: { type: string; data: unknown }[] };
  return events.map(({ type, data }) => ({ interval, type, data }));
}
