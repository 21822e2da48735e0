import type { FeedEvent } from '../protocol/feed.ts';
import type { Quiz } from '../protocol/quizzes.ts';
import type { AnswerResult } from './answer-figures.ts';
import type { HttpResponse } from './connections.ts';
import type { AnswerOutcome } from './ledger/answer-ledger.ts';
import { isOf } from './ledger/event-kinds.ts';
import type { Round, WinnerReportOutcome } from './ledger/winner-ledger.ts';
import type { SimulationContext, ViewerClient } from './viewer-client.ts';
import { planAnswer, type ViewerProfile } from './viewer-profile.ts';

const TRIES_MAX = 6;

export interface ParticipantViewer {
  readonly number: number;
  readonly profile: ViewerProfile;
  readonly isPresent: () => boolean;
  /** Calls `act` after a delay, unless the viewer has left since. */
  readonly schedule: (delayMs: number, act: () => Promise<unknown>) => void;
}

interface ParticipantAnswer {
  /** The acknowledged choice; null before. */
  choice: string | null;
  isRight: boolean;
  /** The result so far; null before. */
  result: AnswerResult | null;
}

/** The quiz behavior of a viewer: it answers, retries, and reports itself as a winner. */
export class QuizParticipant {
  /** Its answers to the quizzes it has read since the last winners request. */
  private readonly game = new Map<string, ParticipantAnswer>();

  constructor(
    private readonly viewer: ParticipantViewer,
    private readonly client: ViewerClient,
    private readonly context: SimulationContext,
  ) {}

  /**
   * Handles an event as the page of a viewer does: the results of its answers, and the report of a win,
   * which the service accepts for 1 s (L-12), do not wait for the video.
   * @returns what the viewer does once the video shows the event; it returns whether the viewer was right
   */
  receive(event: FeedEvent): () => boolean {
    if (isOf(event, 'request-quiz-winners')) this.planWinnerReport();
    if (isOf(event, 'quiz')) {
      const answer: ParticipantAnswer = { choice: null, isRight: false, result: null };
      this.game.set(event.data.id, answer);
      return () => {
        this.planToAnswer(event.data, answer);
        return false;
      };
    }
    if (!isOf(event, 'quiz-results')) return () => false;
    const answer = this.game.get(event.data.id);
    if (!answer) return () => false;
    answer.isRight = answer.choice === event.data.answer;
    return () => answer.isRight;
  }

  private planToAnswer(quiz: Quiz, answer: ParticipantAnswer): void {
    const { time, localMs, random } = this.context;
    const plan = planAnswer(quiz, this.viewer.profile, time.estimateMs(localMs()), random);
    if (!plan) return;
    this.viewer.schedule(plan.delayMs, async () => {
      await this.answer(quiz, plan.choice, answer);
      const { retry } = plan;
      if (retry) this.viewer.schedule(retry.delayMs, () => this.answer(quiz, retry.choice, answer));
    });
  }

  private planWinnerReport(): void {
    const { random, ledger } = this.context;
    const isWinner = this.game.size > 0 && [...this.game.values()].every(({ isRight }) => isRight);
    this.game.clear();
    const round = ledger.winners.latest();
    // A few report themselves without having won, to test that the service refuses them.
    if (!round || (!isWinner && random() >= 0.03)) return;
    this.viewer.schedule(400 * random(), () => this.reportWin(round));
  }

  /** Sends an answer until the service accepts or refuses it. */
  private async answer(quiz: Quiz, choice: string, answer: ParticipantAnswer): Promise<void> {
    const { ledger, stats, streamId, time, localMs } = this.context;
    const { closeInterval } = quiz;
    const body = JSON.stringify({ streamId, choice, closeInterval });
    const recordResult = (result: AnswerResult) => {
      answer.result = stats.answers.record(quiz.id, answer.result, result);
      if (result === 'acknowledged') answer.choice ??= choice;
    };
    for (let tries = 0; tries < TRIES_MAX && this.viewer.isPresent(); tries++) {
      const earliestMs = time.earliestMs(localMs());
      const attempt = ledger.answers.sent(quiz, this.viewer.number, choice, earliestMs);
      const response = await this.client.post(`/api/v1/quizzes/${quiz.id}/answer`, body);
      const outcome = outcomeOfAnswer(response);
      ledger.onAnswerResponse(attempt, outcome, time.latestMs(localMs()), response?.status ?? null);
      if (outcome !== 'unknown')
        return recordResult(outcome === 'recorded' ? 'acknowledged' : 'late');
      await this.client.pauseAfter(response);
    }
    recordResult('unknown');
  }

  private async reportWin(round: Round): Promise<void> {
    const { ledger, streamId, time, localMs } = this.context;
    for (let tries = 0; tries < TRIES_MAX && this.viewer.isPresent(); tries++) {
      const report = ledger.winners.sent(round, this.viewer.number);
      const response = await this.client.post(`/api/v1/quizzes/${streamId}/record-winner`);
      const outcome = outcomeOfWinnerReport(response);
      ledger.onWinnerResponse(report, outcome, time.latestMs(localMs()), response?.status ?? null);
      if (outcome !== 'unknown') return;
      await this.client.pauseAfter(response);
    }
  }
}

function outcomeOfAnswer(response: HttpResponse | null): AnswerOutcome {
  if (response?.status === 204) return 'recorded';
  return response?.status === 409 ? 'refused' : 'unknown';
}

function outcomeOfWinnerReport(response: HttpResponse | null): WinnerReportOutcome {
  if (response?.status === 204) return 'won';
  if (response?.status === 401) return 'not-qualified';
  return response?.status === 409 ? 'no-round' : 'unknown';
}
