import { intervalStartMs } from '../../../protocol/interval.ts';
import type { PublishedQuiz } from '../kill/consistency-checker.ts';
import type { HttpClient } from './http-client.ts';

export interface CheaterOptions {
  readonly client: HttpClient;
  readonly random: () => number;
  /** Service time of any node, Unix ms. */
  readonly serviceMs: () => number;
}

const LATE_SPREAD_MS = 1_500;

/** A viewer without a page, who answers a quiz twice with different choices, or after its close. */
export class Cheater {
  constructor(private readonly options: CheaterOptions) {}

  onQuiz(quiz: PublishedQuiz): void {
    void (this.options.random() < 0.5 ? this.answerTwice(quiz) : this.answerLate(quiz));
  }

  private async answerTwice({ id, choices, closeInterval }: PublishedQuiz): Promise<void> {
    const { client, random, serviceMs } = this.options;
    const leftMs = intervalStartMs(closeInterval) - serviceMs();
    await client.sleep(random() * leftMs);
    const first = Math.floor(random() * choices.length);
    await this.answer(id, choices[first] as string);
    await client.sleep((random() * leftMs) / 2);
    await this.answer(id, choices[(first + 1) % choices.length] as string);
  }

  private async answerLate({ id, choices, closeInterval }: PublishedQuiz): Promise<void> {
    const { client, random, serviceMs } = this.options;
    const closesInMs = intervalStartMs(closeInterval + 1) - serviceMs();
    await client.sleep(closesInMs + random() ** 2 * LATE_SPREAD_MS);
    await this.answer(id, choices[0] as string);
  }

  // The oracle judges the response.
  private async answer(quizId: string, choice: string): Promise<void> {
    const path = `/api/v1/quizzes/${quizId}/answer`;
    await this.options.client.sendUntilDefinite('POST', path, { body: { choice } });
  }
}
