import { intervalAt } from '../../../../protocol/interval.ts';
import type { MockService } from '../../../../sdk/mock/mock-service.ts';
import type { Scheduler } from '../../scheduler.ts';

/** A numbered event of the producer, and the interval in which it was published. */
export interface NumberedEvent {
  readonly interval: number;
  readonly number: number;
}

/** Event type of the numbered events. */
export const NUMBERED_EVENT = 'mark';
const ANSWER = 'a';

/** Simulates a producer: publishes numbered events, and one quiz after another until it stops. */
export class SimulatedShow {
  readonly numberedEvents: NumberedEvent[] = [];
  /** Ids of the quizzes since the last winners round. */
  #game: string[] = [];
  /** When the closeInterval of the last quiz ends, in scheduler time, ms. */
  #closedMs = 0;
  #isOver = false;

  constructor(
    readonly scheduler: Scheduler,
    readonly service: MockService,
    readonly random: () => number,
  ) {
    this.#mark();
    scheduler.after(2_000 + random() * 4_000, () => this.#askRepeatedly());
  }

  /** Stops publishing quizzes, not numbered events. @returns how long the last quiz is open, ms */
  stop(): number {
    this.#isOver = true;
    return Math.max(0, this.#closedMs - this.scheduler.nowMs);
  }

  askQuiz(durationMs: number): void {
    const choices = [ANSWER, 'b', 'c'];
    const { id, closeInterval } = this.service.openQuiz({ choices, answer: ANSWER, durationMs });
    this.#game.push(id);
    this.#closedMs = (closeInterval + 1) * 250;
  }

  /** Starts a winners round. @returns whether the viewer's stored answers are all right */
  requestWinners(viewerId: string): boolean {
    const game = this.#game;
    this.#game = [];
    this.service.requestWinners();
    return game.every((id) => this.service.answersTo(id).get(viewerId) === ANSWER);
  }

  #mark(): void {
    const number = this.numberedEvents.length;
    this.numberedEvents.push({ interval: intervalAt(this.scheduler.nowMs), number });
    this.service.publish(NUMBERED_EVENT, { number });
    this.scheduler.after(this.random() * 2_000, () => this.#mark());
  }

  #askRepeatedly(): void {
    if (this.#isOver) return;
    const durationMs = 2_000 + Math.floor(this.random() * 6_000);
    this.askQuiz(durationMs);
    this.scheduler.after(durationMs + 500 + this.random() * 4_000, () => this.#askRepeatedly());
  }
}
