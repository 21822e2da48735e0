import { intervalStartMs } from '../../../protocol/interval.ts';
import type { PublishedQuiz } from '../kill/consistency-checker.ts';
import type { HttpClient, HttpResponse } from './http-client.ts';

export interface CheaterOptions {
  readonly client: HttpClient;
  readonly random: () => number;
  readonly streamId: string;
  /** Service time of any node, Unix ms. */
  readonly serviceMs: () => number;
  /** Called when an answer is refused for another reason than its time, its quiz or its token. */
  readonly onUnexpected: (response: HttpResponse) => void;
}

/** Acknowledged, an expired token, and a quiz that is answered or closed. */
const EXPECTED_STATUSES: readonly number[] = [204, 401, 409];

const LATE_SPREAD_MS = 1_500;
const LAST_MOMENT_MS = 300;

/**
 * A viewer without a page, who answers a quiz twice with different choices, after its close, or at the
 * last moment.
 */
export class Cheater {
  constructor(private readonly options: CheaterOptions) {}

  cheat(quiz: PublishedQuiz): void {
    void (this.options.random() < 0.5 ? this.answerTwice(quiz) : this.answerLate(quiz));
  }

  async answerAtLast(quiz: PublishedQuiz): Promise<void> {
    const { choices, closeInterval } = quiz;
    const { client, random, serviceMs } = this.options;
    const closesInMs = intervalStartMs(closeInterval) - serviceMs();
    await client.sleep(Math.max(0, closesInMs - random() * LAST_MOMENT_MS));
    await this.answer(quiz, choices[0] as string);
  }

  private async answerTwice(quiz: PublishedQuiz): Promise<void> {
    const { choices, closeInterval } = quiz;
    const { client, random, serviceMs } = this.options;
    const leftMs = intervalStartMs(closeInterval) - serviceMs();
    await client.sleep(random() * leftMs);
    const first = Math.floor(random() * choices.length);
    await this.answer(quiz, choices[first] as string);
    await client.sleep((random() * leftMs) / 2);
    await this.answer(quiz, choices[(first + 1) % choices.length] as string);
  }

  private async answerLate(quiz: PublishedQuiz): Promise<void> {
    const { choices, closeInterval } = quiz;
    const { client, random, serviceMs } = this.options;
    const closesInMs = intervalStartMs(closeInterval + 1) - serviceMs();
    await client.sleep(closesInMs + random() ** 2 * LATE_SPREAD_MS);
    await this.answer(quiz, choices[0] as string);
  }

  // The oracle judges the response.
  private async answer({ id, closeInterval }: PublishedQuiz, choice: string): Promise<void> {
    const { client, streamId, onUnexpected } = this.options;
    const body = { streamId, closeInterval, choice };
    const path = `/api/v1/quizzes/${id}/answer`;
    const response = await client.sendUntilDefinite('POST', path, { body });
    if (!EXPECTED_STATUSES.includes(response.status)) onUnexpected(response);
  }
}
