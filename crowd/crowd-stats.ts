import type { FeedEvent } from '../protocol/feed.ts';
import { intervalStartMs } from '../protocol/interval.ts';
import { AnswerFigures } from './answer-figures.ts';
import { Lateness, RecentLateness } from './lateness.ts';
import { type EventOf, isOf } from './ledger/event-kinds.ts';
import type { CheckedCount, Ledger } from './ledger/ledger.ts';
import type { Verdictbook } from './ledger/verdict.ts';
import type { ChatSummary, CrowdReport } from './messages.ts';

/** Everything that the crowd tells about itself, gathered between two reports. */
export class CrowdStats {
  readonly answers = new AnswerFigures();
  /** Viewers whom the producer sent away: what they did just before is in no book. */
  banned = 0;
  present = 0;
  arrived = 0;
  private requests = 0;
  private troubles = 0;
  private readonly recent = new RecentLateness();
  private readonly overall = new Lateness();
  private interval: number | null = null;
  private count: CrowdReport['count'] = null;
  private othersHere = 0;
  private events: FeedEvent[] = [];
  private counts: number[] = [];
  private slack = { sum: 0, counts: 0 };
  private readonly open = new Set<string>();
  private chat: ChatSummary = { lines: 0, hearts: 0, purchases: 0, discounts: 0, last: null };

  /** An answer of the service came. */
  answered(): void {
    this.requests++;
  }

  /** An answer was not what a viewer can expect, or there was none. */
  troubled(): void {
    this.troubles++;
  }

  /** A viewer got an interval as soon as it could. @param nowMs service time */
  delivered(interval: number, nowMs: number): void {
    const lateMs = nowMs - intervalStartMs(interval + 1);
    this.interval = Math.max(this.interval ?? 0, interval);
    this.recent.add(lateMs, nowMs);
    this.overall.add(lateMs);
  }

  /** An event of the feed, in order. */
  happened(event: FeedEvent): void {
    if (isOf(event, 'chats')) this.addChats(event);
    else if (!isOf(event, 'view-count')) this.events.push(event);
    if (isOf(event, 'quiz')) {
      this.answers.asked(event.data);
      this.open.add(event.data.id);
    }
    if (isOf(event, 'quiz-results')) {
      this.answers.revealed(event.data);
      this.open.delete(event.data.id);
    }
  }

  /** A count of the service was compared with the ledger. */
  counted({ count, low, high, others, isEvent }: CheckedCount): void {
    this.slack.sum += high - low + others;
    this.slack.counts++;
    if (!isEvent) return;
    this.count = { ...count, low, high };
    // As many as before, where the count leaves that open.
    const least = Math.max(0, count.value - high);
    const most = Math.max(0, count.value - low);
    this.othersHere = Math.min(others, most, Math.max(least, this.othersHere));
    this.counts.push(count.value);
  }

  /** What is to be told now. */
  report(ledger: Ledger, book: Verdictbook, isLast: boolean): CrowdReport {
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
      others: { here: this.othersHere, came: ledger.others.known() },
      slack: this.slack.sum / Math.max(1, this.slack.counts),
      requests: this.requests,
      troubles: this.troubles,
      recent: this.recent.percentiles(),
      overall: this.overall.percentiles(),
      answers: Object.fromEntries(
        [...this.open].map((quizId) => [quizId, ledger.answers.recordedCounts(quizId)]),
      ),
      events,
      counts,
      chat: this.chat,
      verdicts: book.verdicts(),
    };
  }

  private addChats({ data }: EventOf<'chats'>): void {
    const lines = [...data.messages, ...data.questions, ...data.greetings, ...data.cheers];
    const last = data.purchases.at(-1) ?? lines.at(-1);
    const { chat } = this;
    this.chat = {
      lines: chat.lines + lines.length,
      hearts: chat.hearts + data.hearts,
      purchases: chat.purchases + data.purchases.length,
      discounts: chat.discounts + data.discounts,
      last: last ? { name: last.name, text: last.text } : chat.last,
    };
  }
}
