import type { QuizResults } from '../../../protocol/quizzes.ts';

/** Outcome of a request as its client knows it; unknown after a reset, a time-out or a 503. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** A quiz whose publication the service acknowledged. */
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
  /** The acknowledged choice, if any. */
  choice: string | null;
  /** The choice with an unknown outcome: it may count or not. */
  maybe: string | null;
}

interface Round {
  readonly id: string;
  readonly quizzes: readonly PublishedQuiz[];
  readonly won: Set<string>;
  /** Viewers whose claims have an unknown outcome: they may count or not. */
  readonly maybe: Set<string>;
}

/**
 * Derives from what clients sent and received what the service must have done, and collects the
 * violations. Viewers are identified by the `sub` of their tokens.
 */
export class ConsistencyChecker {
  readonly figures = { acknowledged: 0, refused: 0, unknown: 0, claims: 0, events: 0, bodies: 0 };
  private readonly quizzes = new Map<string, PublishedQuiz>();
  private readonly answers = new Map<string, Map<string, Attempts>>();
  private readonly rounds: Round[] = [];
  private readonly producerEvents = new Set<number>();
  private readonly unknownEvents = new Set<number>();
  private readonly bodies = new Map<number, string>();

  /**
   * @param fail called with each violation
   * @param onNew called with each event of an interval when the interval is first read
   */
  constructor(
    private readonly fail: (violation: string) => void,
    private readonly prefix = '',
    private readonly onNew: (event: ReadEvent) => void = () => {},
  ) {}

  quizPublished(quiz: PublishedQuiz): void {
    this.expect(!this.quizzes.has(quiz.id), `quiz ${quiz.id} was published twice`);
    this.quizzes.set(quiz.id, quiz);
    this.answers.set(quiz.id, this.answers.get(quiz.id) ?? new Map());
  }

  /** Records the outcome of an answer; a client sends one at a time. */
  answered(quizId: string, viewer: string, choice: string, outcome: Outcome): void {
    this.figures[outcome]++;
    const attempts = this.attemptsOf(quizId, viewer);
    if (outcome === 'refused') {
      const isAcknowledged = attempts.choice === choice;
      this.expect(!isAcknowledged, `${viewer}: the answer that counts was refused when sent again`);
    }
    if (outcome !== 'acknowledged') return;
    const hasOtherChoice = attempts.choice !== null && attempts.choice !== choice;
    this.expect(!hasOtherChoice, `${viewer}: two answers to quiz ${quizId} were acknowledged`);
    attempts.choice ??= choice;
  }

  /** Records an answer with an unknown outcome that is not repeated. */
  gaveUp(quizId: string, viewer: string, choice: string): void {
    this.attemptsOf(quizId, viewer).maybe = choice;
  }

  /** Whether right answers of the viewer to all of these quizzes were acknowledged. */
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

  /** Records the status of a claim in the newest round. @param isRetry it was sent before */
  claimed(viewer: string, status: 204 | 401 | 409, isRetry: boolean): void {
    const round = this.rounds.at(-1);
    if (!round) throw new Error('no round was opened');
    this.figures.claims++;
    const qualifies = this.hasWon(round.quizzes, viewer);
    if (status === 204) {
      const isPossible = this.mayHaveWon(round.quizzes, viewer);
      this.expect(isPossible, `${viewer} won round ${round.id} without the right answers`);
      round.won.add(viewer);
    } else if (status === 401) {
      this.expect(!qualifies, `${viewer} answered all right and was refused in ${round.id}`);
    } else if (isRetry && qualifies) round.maybe.add(viewer);
  }

  /** Records a claim in the newest round without a definite response. */
  claimUnknown(viewer: string): void {
    const round = this.rounds.at(-1);
    if (round && this.mayHaveWon(round.quizzes, viewer)) round.maybe.add(viewer);
  }

  /** Records an acknowledged event of the producer by its number. */
  eventAcknowledged(number: number): void {
    this.figures.events++;
    this.producerEvents.add(number);
  }

  /** Records an event of the producer with an unknown outcome. */
  eventUnknown(number: number): void {
    this.unknownEvents.add(number);
  }

  /** Records an interval that a viewer read. */
  served(interval: number, body: string): void {
    this.figures.bodies++;
    const first = this.bodies.get(interval);
    if (first !== undefined) {
      this.expect(first === body, `interval ${interval}: first ${first}, then ${body}`);
      return;
    }
    this.bodies.set(interval, body);
    for (const event of eventsOf(interval, body)) {
      const revealsAnswer =
        event.type !== 'quiz-results' && JSON.stringify(event.data).includes('"answer"');
      this.expect(
        !revealsAnswer,
        `interval ${interval} contains an answer before its results: ${body}`,
      );
      this.onNew(event);
    }
  }

  /** All intervals that were read. */
  servedIntervals(): number[] {
    return [...this.bodies.keys()].sort((a, b) => a - b);
  }

  /** The body of an interval that was read. */
  bodyOf(interval: number): string {
    return this.bodies.get(interval) ?? '';
  }

  /** Checks the whole feed. */
  checkFeed(events: readonly ReadEvent[]): void {
    const ofType = (type: string) => events.filter((event) => event.type === type);
    this.checkQuizzes(ofType('quiz'), ofType('quiz-results'));
    this.checkRounds(ofType('request-quiz-winners'), ofType('quiz-winners'));
    const custom = ofType('tick').map(({ data }) => (data as { number: number }).number);
    const purchases = ofType('chats').flatMap(({ data }) =>
      (data as { purchases: { text: string }[] }).purchases.map(({ text }) => Number(text)),
    );
    const sent = [...custom, ...purchases];
    this.expectOnce('producer event', this.producerEvents, sent, this.unknownEvents);
  }

  private checkQuizzes(quizEvents: readonly ReadEvent[], results: readonly ReadEvent[]): void {
    const idOf = ({ data }: ReadEvent) => (data as { id: string }).id;
    this.expectOnce('quiz event', new Set(this.quizzes.keys()), quizEvents.map(idOf));
    this.expectOnce('quiz-results event', new Set(this.quizzes.keys()), results.map(idOf));
    for (const event of results) this.checkResults(event);
  }

  /** Checks the results of a quiz, once all outcomes of its answers are recorded. */
  checkResults({ interval, data }: ReadEvent): void {
    const published = data as QuizResults;
    const quiz = this.quizzes.get(published.id);
    if (!quiz) return;
    this.expect(interval >= quiz.closeInterval, `results of ${quiz.id} came before its close`);
    this.expect(published.answer === quiz.answer, `results of ${quiz.id} have a wrong answer`);
    const attempts = [...(this.answers.get(quiz.id)?.values() ?? [])];
    for (const choice of quiz.choices) {
      const acknowledged = attempts.filter((attempts) => attempts.choice === choice).length;
      const unknown = attempts.filter(
        ({ choice: definite, maybe }) => definite === null && maybe === choice,
      );
      const counted = published.choices[choice]?.count ?? Number.NaN;
      this.expect(
        counted >= acknowledged && counted <= acknowledged + unknown.length,
        `results of ${quiz.id}: ${counted} for "${choice}", ` +
          `${acknowledged} were acknowledged and ${unknown.length} unknown`,
      );
    }
  }

  private checkRounds(requests: readonly ReadEvent[], winners: readonly ReadEvent[]): void {
    const rounds = this.rounds.length;
    this.expect(requests.length === rounds, `${requests.length} requests for ${rounds} rounds`);
    this.expect(winners.length === rounds, `${winners.length} counts for ${rounds} rounds`);
    for (const [index, { won, maybe, id }] of this.rounds.entries()) {
      const published = winners[index];
      const requested = requests[index]?.interval ?? Number.NaN;
      if (!published) continue;
      const { count } = published.data as { count: number };
      const isRight = count >= won.size && count <= won.size + maybe.size;
      this.expect(isRight, `round ${id}: ${count} winners, ${won.size} were acknowledged`);
      this.expect(published.interval >= requested + 4, `round ${id} was counted within a second`);
    }
  }

  /** Checks that the exported answers are the acknowledged ones, and unknown ones at most. */
  checkAnswers(rows: readonly AnswerRow[]): void {
    const exported = rows.map(({ quizId, viewer, choice }) => `${quizId} ${viewer} ${choice}`);
    const acknowledged = new Set<string>();
    const unknown = new Set<string>();
    for (const [quizId, viewers] of this.answers) {
      for (const [viewer, { choice, maybe }] of viewers) {
        if (choice !== null) acknowledged.add(`${quizId} ${viewer} ${choice}`);
        else if (maybe !== null) unknown.add(`${quizId} ${viewer} ${maybe}`);
      }
    }
    this.expectOnce('answer', acknowledged, exported, unknown);
  }

  /** Checks that the exported winners are the acknowledged ones, and unknown ones at most. */
  checkWinners(rows: readonly WinnerRow[]): void {
    for (const { id, won, maybe } of this.rounds) {
      const exported = rows.filter(({ roundId }) => roundId === id).map(({ viewer }) => viewer);
      const definiteWinners = exported.filter((viewer) => !maybe.has(viewer) || won.has(viewer));
      this.expectOnce(`winner of ${id}`, won, definiteWinners);
      this.expect(new Set(exported).size === exported.length, `round ${id} has a winner twice`);
    }
  }

  /** Expects each acknowledged item once, each unknown one at most once, and no other. */
  private expectOnce<T>(
    kind: string,
    acknowledged: ReadonlySet<T>,
    observed: readonly T[],
    unknown: ReadonlySet<T> = new Set(),
  ): void {
    const counts = new Map<T, number>();
    for (const item of observed) counts.set(item, (counts.get(item) ?? 0) + 1);
    for (const item of acknowledged) {
      const times = counts.get(item) ?? 0;
      this.expect(times === 1, `${kind} ${item}: acknowledged, but found ${times} times`);
    }
    for (const [item, times] of counts) {
      if (acknowledged.has(item)) continue;
      this.expect(unknown.has(item), `${kind} ${item}: found, but never acknowledged`);
      this.expect(times === 1, `${kind} ${item}: unknown, but found ${times} times`);
    }
  }

  /** Records a violation unless the condition holds. */
  expect(condition: boolean, violation: string): void {
    if (!condition) this.fail(this.prefix + violation);
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
