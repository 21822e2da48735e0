import type { FeedEvent } from '../protocol/feed.ts';
import type { Quiz } from '../protocol/quizzes.ts';
import type { AnswerFate } from './answer-figures.ts';
import type { HttpAnswer } from './connections.ts';
import type { AnswerOutcome } from './ledger/answer-ledger.ts';
import { isOf } from './ledger/event-kinds.ts';
import type { ClaimOutcome, Round } from './ledger/winner-ledger.ts';
import type { SimulationContext, ViewerClient } from './viewer-client.ts';
import { planAnswer, type ViewerProfile } from './viewer-profile.ts';

const TRIES_MAX = 6;

/** What a player needs of its viewer. */
export interface Seat {
  readonly number: number;
  readonly profile: ViewerProfile;
  readonly isHere: () => boolean;
  /** Does something after a while, unless the viewer has left by then. */
  readonly later: (delayMs: number, act: () => Promise<unknown>) => void;
}

/** What a player did about a quiz. */
interface OwnAnswer {
  /** The choice that was acknowledged. */
  choice: string | null;
  isRight: boolean;
  /** What it heard of its answer. */
  fate: AnswerFate | null;
}

/** A viewer as a player: it answers, retries, tries again, and reports itself as a winner. */
export class Player {
  /** Quizzes since the last winners request, as far as it saw them, and whether it was right. */
  private readonly game = new Map<string, OwnAnswer>();

  constructor(
    private readonly seat: Seat,
    private readonly client: ViewerClient,
    private readonly world: SimulationContext,
  ) {}

  /** An event was read. @returns whether it brought the news that the player was right */
  react(event: FeedEvent): boolean {
    if (isOf(event, 'quiz')) this.consider(event.data);
    if (isOf(event, 'request-quiz-winners')) this.considerClaim();
    if (!isOf(event, 'quiz-results')) return false;
    const own = this.game.get(event.data.id);
    if (!own) return false;
    own.isRight = own.choice === event.data.answer;
    return own.isRight;
  }

  private consider(quiz: Quiz): void {
    const { time, localMs, random } = this.world;
    const own: OwnAnswer = { choice: null, isRight: false, fate: null };
    this.game.set(quiz.id, own);
    const plan = planAnswer(quiz, this.seat.profile, time.likelyMs(localMs()), random);
    if (!plan) return;
    this.seat.later(plan.delayMs, async () => {
      await this.answer(quiz, plan.choice, own);
      const { again } = plan;
      if (again) this.seat.later(again.delayMs, () => this.answer(quiz, again.choice, own));
    });
  }

  private considerClaim(): void {
    const { random, ledger } = this.world;
    const isWinner = this.game.size > 0 && [...this.game.values()].every((own) => own.isRight);
    this.game.clear();
    const round = ledger.winners.latest();
    // A few claim what is not theirs: the service has to tell.
    if (!round || (!isWinner && random() >= 0.03)) return;
    this.seat.later(400 * random(), () => this.claim(round));
  }

  /** Answers until it hears a yes or a no. */
  private async answer(quiz: Quiz, choice: string, own: OwnAnswer): Promise<void> {
    const { ledger, stats, streamId, time, localMs } = this.world;
    const { closeInterval } = quiz;
    const body = JSON.stringify({ streamId, choice, closeInterval });
    const heard = (fate: AnswerFate) => {
      own.fate = stats.answers.heard(quiz.id, own.fate, fate);
      if (fate === 'acknowledged') own.choice ??= choice;
    };
    for (let tries = 0; tries < TRIES_MAX && this.seat.isHere(); tries++) {
      const earliestMs = time.earliestMs(localMs());
      const attempt = ledger.answers.sent(quiz, this.seat.number, choice, earliestMs);
      const answer = await this.client.post(`/api/v1/quizzes/${quiz.id}/answer`, body);
      const outcome = outcomeOfAnswer(answer);
      ledger.answered(attempt, outcome, time.latestMs(localMs()), answer?.status ?? null);
      if (outcome !== 'unknown') return heard(outcome === 'recorded' ? 'acknowledged' : 'late');
      await this.client.pauseAfter(answer);
    }
    heard('unknown');
  }

  private async claim(round: Round): Promise<void> {
    const { ledger, streamId, time, localMs } = this.world;
    for (let tries = 0; tries < TRIES_MAX && this.seat.isHere(); tries++) {
      const claim = ledger.winners.sent(round, this.seat.number);
      const answer = await this.client.post(`/api/v1/quizzes/${streamId}/record-winner`);
      const outcome = outcomeOfClaim(answer);
      ledger.claimed(claim, outcome, time.latestMs(localMs()), answer?.status ?? null);
      if (outcome !== 'unknown') return;
      await this.client.pauseAfter(answer);
    }
  }
}

function outcomeOfAnswer(answer: HttpAnswer | null): AnswerOutcome {
  if (answer?.status === 204) return 'recorded';
  return answer?.status === 409 ? 'refused' : 'unknown';
}

function outcomeOfClaim(answer: HttpAnswer | null): ClaimOutcome {
  if (answer?.status === 204) return 'won';
  if (answer?.status === 401) return 'not-qualified';
  return answer?.status === 409 ? 'no-round' : 'unknown';
}
