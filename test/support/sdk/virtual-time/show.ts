import { intervalAt } from '../../../../protocol/interval.ts';
import type { MockService } from '../../../../sdk/mock/mock-service.ts';
import type { Scheduler } from './scheduler.ts';

/** An event of the producer's that was published in this interval. */
export interface Mark {
  readonly interval: number;
  readonly number: number;
}

/** The type of these events. */
export const MARK = 'mark';
const ANSWER = 'a';

/** What a producer does, until it stops: marks, and one quiz after another. */
export class Show {
  readonly marks: Mark[] = [];
  /** The quizzes since winners were asked for, and when the last one is closed, true ms. */
  #game: string[] = [];
  #closedMs = 0;
  #isOver = false;

  constructor(
    readonly scheduler: Scheduler,
    readonly service: MockService,
    readonly random: () => number,
  ) {
    this.#mark();
    scheduler.after(2_000 + random() * 4_000, () => this.#askOn());
  }

  /** No new quizzes; marks go on. @returns how long the last one is still open, ms */
  stop(): number {
    this.#isOver = true;
    return Math.max(0, this.#closedMs - this.scheduler.nowMs);
  }

  ask(durationMs: number): void {
    const choices = [ANSWER, 'b', 'c'];
    const { id, closeInterval } = this.service.openQuiz({ choices, answer: ANSWER, durationMs });
    this.#game.push(id);
    this.#closedMs = (closeInterval + 1) * 250;
  }

  /** Begins a new game. @returns whether this viewer has won the last one, by what the service has */
  requestWinners(viewerId: string): boolean {
    const game = this.#game;
    this.#game = [];
    this.service.requestWinners();
    return game.every((id) => this.service.answersTo(id).get(viewerId) === ANSWER);
  }

  #mark(): void {
    const number = this.marks.length;
    this.marks.push({ interval: intervalAt(this.scheduler.nowMs), number });
    this.service.publish(MARK, { number });
    this.scheduler.after(this.random() * 2_000, () => this.#mark());
  }

  #askOn(): void {
    if (this.#isOver) return;
    const durationMs = 2_000 + Math.floor(this.random() * 6_000);
    this.ask(durationMs);
    this.scheduler.after(durationMs + 500 + this.random() * 4_000, () => this.#askOn());
  }
}
