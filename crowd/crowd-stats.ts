import type { FeedEvent } from '../protocol/feed.ts';
import { intervalStartMs } from '../protocol/interval.ts';
import { AnswerFigures } from './answer-figures.ts';
import { DelayHistogram, RecentDelays } from './delays.ts';
import type { CheckRecorder } from './ledger/check-results.ts';
import { type EventOf, isOf } from './ledger/event-kinds.ts';
import type { CheckedCount, Ledger } from './ledger/ledger.ts';
import type { ChatSummary, CrowdReport } from './messages.ts';

/** Statistics of the crowd: totals so far, and the events and counts since the last report. */
export class CrowdStats {
  readonly answers = new AnswerFigures();
  /** Viewers who were banned; the checks do not know when each ban took effect. */
  banned = 0;
  present = 0;
  arrived = 0;
  private requests = 0;
  private failures = 0;
  private readonly recent = new RecentDelays();
  private readonly overall = new DelayHistogram();
  private interval: number | null = null;
  private count: CrowdReport['count'] = null;
  private externalPresent = 0;
  private events: FeedEvent[] = [];
  private counts: number[] = [];
  private tolerance = { sum: 0, counts: 0 };
  private readonly openQuizIds = new Set<string>();
  private chat: ChatSummary = { messages: 0, hearts: 0, purchases: 0, discounts: 0, last: null };

  requestCompleted(): void {
    this.requests++;
  }

  /** Counts a failure: no response, or one that a viewer cannot use. */
  requestFailed(): void {
    this.failures++;
  }

  /** Records the delay of an interval that a viewer read live. @param nowMs service time */
  onDelivered(interval: number, nowMs: number): void {
    const delayMs = nowMs - intervalStartMs(interval + 1);
    this.interval = Math.max(this.interval ?? 0, interval);
    this.recent.add(delayMs, nowMs);
    this.overall.add(delayMs);
  }

  /** Takes an event of the feed, in order. */
  onEvent(event: FeedEvent): void {
    if (isOf(event, 'chats')) this.addChats(event);
    else if (!isOf(event, 'view-count')) this.events.push(event);
    if (isOf(event, 'quiz')) {
      this.answers.addQuiz(event.data);
      this.openQuizIds.add(event.data.id);
    }
    if (isOf(event, 'quiz-results')) {
      this.answers.addResults(event.data);
      this.openQuizIds.delete(event.data.id);
    }
  }

  /** Takes a count that was compared with the ledger. */
  onCount({ count, low, high, externalViewers, isEvent }: CheckedCount): void {
    this.tolerance.sum += high - low + externalViewers;
    this.tolerance.counts++;
    if (!isEvent) return;
    this.count = { ...count, low, high };
    // Keep the previous number where the bounds allow it.
    const least = Math.max(0, count.value - high);
    const most = Math.max(0, count.value - low);
    this.externalPresent = Math.min(externalViewers, most, Math.max(least, this.externalPresent));
    this.counts.push(count.value);
  }

  /** Creates a report and starts the next one. */
  report(ledger: Ledger, checks: CheckRecorder, isLast: boolean): CrowdReport {
    const { events, counts } = this;
    this.events = [];
    this.counts = [];
    return {
      kind: 'report',
      isLast,
      interval: this.interval,
      present: this.present,
      arrived: this.arrived,
      count: this.count,
      externalViewers: {
        present: this.externalPresent,
        total: ledger.externalViewers.count(),
      },
      countTolerance: this.tolerance.sum / Math.max(1, this.tolerance.counts),
      requests: this.requests,
      failures: this.failures,
      recent: this.recent.percentiles(),
      overall: this.overall.percentiles(),
      answers: Object.fromEntries(
        [...this.openQuizIds].map((quizId) => [quizId, ledger.answers.recordedCounts(quizId)]),
      ),
      events,
      counts,
      chat: this.chat,
      checkResults: checks.results(),
    };
  }

  private addChats({ data }: EventOf<'chats'>): void {
    const messages = [...data.messages, ...data.questions, ...data.greetings, ...data.cheers];
    const last = data.purchases.at(-1) ?? messages.at(-1);
    const { chat } = this;
    this.chat = {
      messages: chat.messages + messages.length,
      hearts: chat.hearts + data.hearts,
      purchases: chat.purchases + data.purchases.length,
      discounts: chat.discounts + data.discounts,
      last: last ? { name: last.name, text: last.text } : chat.last,
    };
  }
}
