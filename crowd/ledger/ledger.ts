import type { Chats, EventsInterval, FeedEvent } from '../../protocol/feed.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../../protocol/limits.ts';
import type { Quiz, QuizResults } from '../../protocol/quizzes.ts';
import type { ViewCount } from '../../protocol/view-counts.ts';
import { AnswerLedger, type AnswerOutcome, type Attempt } from './answer-ledger.ts';
import { BodyLedger } from './body-ledger.ts';
import { type CountBounds, CountLedger } from './count-ledger.ts';
import { isOf } from './event-kinds.ts';
import { EventLedger } from './event-ledger.ts';
import { besides, type Holder, Others } from './others.ts';
import type { Check, Verdictbook } from './verdict.ts';
import { type Claim, type ClaimOutcome, type Round, WinnerLedger } from './winner-ledger.ts';

// Responses that are under way when results are read are known by then.
const SETTLED_AFTER_MS = 1_000;
// An event that is not in the feed by then is missing, not late.
const DUE_AFTER_MS = 8_000;
// A count that we read later than this is older than the heartbeats that are kept.
const COUNT_CHECKED_MS = 4_000;
// No heartbeat from before a step of the clock decides a count any more.
const UNSURE_MS = 3_000;
// Intervals that nobody in the crowd read; it is small, and everybody was unavailable.
const UNREAD_MAX = 40;

/** Where a viewer is in the feed. */
export interface Place {
  /** The interval that must come next; null before the first. */
  next: number | null;
  /** Intervals up to here may be left out (F-23: sealed and empty when an event stream began). */
  optionalTo: number;
}

/** A count of the service beside what our ledger says. */
export interface CheckedCount extends CountBounds {
  readonly count: ViewCount;
  /** Viewers of whom our ledger knows nothing, at most. */
  readonly others: number;
  /** It is a `view-count` event; else a viewer read it. */
  readonly isEvent: boolean;
}

/**
 * The demo's own books (O-18). It is told everything that the viewers send and read, and what the
 * host was promised, and notes in the verdicts whether the service's numbers fit.
 */
export class Ledger {
  readonly counts = new CountLedger();
  readonly answers = new AnswerLedger();
  readonly winners = new WinnerLedger(this.answers);
  readonly others = new Others();
  private readonly events = new EventLedger();
  private readonly bodies = new BodyLedger();
  private readonly ahead = new Map<number, { events: EventsInterval; receivedMs: number }>();
  private readonly receivedMs = new Map<number, number>();
  private settling: { dueMs: number; settle: () => void }[] = [];
  private next: number | null = null;
  private unsureUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * @param onEvent told each event of the feed once, in order
   * @param onCount told each count that was compared
   */
  constructor(
    private readonly book: Verdictbook,
    private readonly onEvent: (event: FeedEvent, interval: number) => void,
    private readonly onCount: (checked: CheckedCount) => void,
  ) {}

  /**
   * A viewer read an interval.
   * @param receivedMs the latest that service time can be
   */
  read(place: Place, asked: number, bytes: Uint8Array, receivedMs: number): EventsInterval {
    const { interval, first, mismatch } = this.bodies.read(asked, bytes);
    this.book.note('bodies', mismatch);
    this.book.note('intervals', gapBefore(place, asked));
    place.next = asked + 1;
    if (first && mismatch === null) this.putInOrder(asked, interval, receivedMs);
    return interval;
  }

  /** A viewer read the count itself. @param fromMs between these moments of service time */
  readCount(count: ViewCount, fromMs: number, toMs: number): void {
    if (fromMs < this.unsureUntilMs) return;
    this.compareCount({ count, isEvent: false, ...this.counts.between(fromMs, toMs) });
  }

  /** The service's clock was stepped (K-5): what was noted just before may be wrong by that. */
  clockStepped(nowMs: number): void {
    this.unsureUntilMs = nowMs + UNSURE_MS;
  }

  /** The host was promised an event. @param fromMs service time from which it may come */
  promised(key: string, fromMs: number): void {
    this.events.promised(key, fromMs + DUE_AFTER_MS);
  }

  /** An answer has its response. @param status null when the connection broke */
  answered(
    attempt: Attempt,
    outcome: AnswerOutcome,
    latestMs: number,
    status: number | null,
  ): void {
    const mismatch = this.answers.settled(attempt, outcome, latestMs);
    this.book.note('answers', mismatch ?? oddStatus('an answer', outcome, status));
  }

  /** A winner report has its response. @param status null when the connection broke */
  claimed(claim: Claim, outcome: ClaimOutcome, latestMs: number, status: number | null): void {
    const mismatch = this.winners.settled(claim, outcome, latestMs);
    this.book.note('winners', mismatch ?? oddStatus('a winner report', outcome, status));
  }

  /** A probe tells who else is here. @param receivedMs the latest that service time can be */
  probed(holders: readonly Holder[], receivedMs: number): void {
    this.others.found(holders);
    this.later(receivedMs, () => this.others.settle());
  }

  /** Makes the checks that are due. @param nowMs service time */
  settle(nowMs: number): void {
    const due = this.settling.filter(({ dueMs }) => dueMs <= nowMs);
    this.settling = this.settling.filter(({ dueMs }) => dueMs > nowMs);
    for (const { settle } of due) settle();
    for (const mismatch of this.events.check(nowMs)) this.book.note('events', mismatch);
  }

  // Two viewers' responses can be read in either order; events are taken as the feed has them.
  private putInOrder(number: number, events: EventsInterval, receivedMs: number): void {
    this.next ??= number;
    if (number < this.next) return;
    this.ahead.set(number, { events, receivedMs });
    if (this.ahead.size > UNREAD_MAX) {
      this.book.note('intervals', `interval ${this.next} was read by nobody`);
      this.next = Math.min(...this.ahead.keys());
    }
    for (let read = this.ahead.get(this.next); read; read = this.ahead.get(this.next)) {
      this.ahead.delete(this.next);
      this.receivedMs.set(this.next, read.receivedMs);
      this.receivedMs.delete(this.next - 2 * WINNERS_DELAY_INTERVALS);
      for (const event of read.events.events) this.take(event, this.next, read.receivedMs);
      this.next++;
    }
  }

  private take(event: FeedEvent, interval: number, receivedMs: number): void {
    this.onEvent(event, interval);
    if (isOf(event, 'view-count')) this.takeCount(event.data, interval, receivedMs);
    else if (isOf(event, 'quiz')) this.takeQuiz(event.data, receivedMs);
    else if (isOf(event, 'quiz-results')) this.takeResults(event.data, interval, receivedMs);
    else if (isOf(event, 'request-quiz-winners')) this.takeRequest(interval, receivedMs);
    else if (isOf(event, 'quiz-winners')) this.takeWinners(event.data.count, interval, receivedMs);
    else if (isOf(event, 'chats')) {
      for (const { text } of event.data.purchases) this.see(`purchase ${text}`, receivedMs);
      this.hear(event.data);
    } else this.see(`${event.type} ${JSON.stringify(event.data)}`, receivedMs);
  }

  private takeCount(count: ViewCount, interval: number, receivedMs: number): void {
    if (receivedMs - intervalStartMs(interval) > COUNT_CHECKED_MS) return;
    if (receivedMs < this.unsureUntilMs) return;
    this.compareCount({ count, isEvent: true, ...this.counts.atEndOf(interval) });
  }

  private compareCount(checked: Omit<CheckedCount, 'others'>): void {
    const { count, low, high, isEvent } = checked;
    const where = isEvent ? 'a view-count event' : 'a read';
    this.judge('count', (others) => {
      if (count.value >= low && count.value <= high + others) return null;
      return `${where} says ${count.value}, and ${low} to ${high} were here${besides(others)}`;
    });
    this.onCount({ ...checked, others: this.others.known() });
  }

  // C-5: whoever says something has a token, and so a seat.
  private hear({ messages, questions, greetings, cheers }: Chats): void {
    for (const { viewer } of [...messages, ...questions, ...greetings, ...cheers]) {
      if (!this.others.hear(viewer)) continue;
      const speakers = this.others.speakers();
      this.judge('events', (others) => {
        if (speakers <= others) return null;
        return `chat lines are of ${speakers} who are not of the crowd${besides(others)}`;
      });
    }
  }

  private takeQuiz(quiz: Quiz, receivedMs: number): void {
    this.see(`quiz ${quiz.id}`, receivedMs);
    this.book.note('answers', this.answers.asked(quiz));
    this.winners.asked(quiz.id);
  }

  private takeResults(results: QuizResults, interval: number, receivedMs: number): void {
    this.see(`quiz-results ${results.id}`, receivedMs);
    this.answers.revealed(results);
    if (interval < results.closeInterval) {
      this.book.note('answers', `the results of quiz ${results.id} came before its close`);
    }
    this.later(receivedMs, () => {
      this.judge('answers', (others) => this.answers.check(results, others));
    });
  }

  private takeRequest(interval: number, receivedMs: number): void {
    const round = this.winners.requested(interval);
    this.see(`request-quiz-winners ${round.number}`, receivedMs);
    this.promised(`quiz-winners ${round.number}`, receivedMs);
  }

  private takeWinners(count: number, interval: number, receivedMs: number): void {
    const round = this.winners.latest();
    if (!round) {
      this.book.note('winners', 'winners were counted without a request');
      return;
    }
    this.see(`quiz-winners ${round.number}`, receivedMs);
    this.book.note('winners', this.winners.checkDelay(round, interval, this.isPunctual(round)));
    this.later(receivedMs, () => {
      this.judge('winners', (others) => this.winners.check(round, count, others));
    });
  }

  // An interval that we had before the next one ended was sealed as the newest, not skipped.
  private isPunctual(round: Round): boolean {
    const due = round.interval + WINNERS_DELAY_INTERVALS;
    return (this.receivedMs.get(due) ?? Number.POSITIVE_INFINITY) < intervalStartMs(due + 2);
  }

  private see(key: string, receivedMs: number): void {
    this.events.seen(key, receivedMs + DUE_AFTER_MS);
  }

  private judge(check: Check, mismatchWith: (others: number) => string | null): void {
    this.others.ask({ mismatchWith, note: (mismatch) => this.book.note(check, mismatch) });
  }

  private later(nowMs: number, settle: () => void): void {
    this.settling.push({ dueMs: nowMs + SETTLED_AFTER_MS, settle });
  }
}

// What a client that does everything right can get besides a yes and a no: try again (L-9, R-15).
function oddStatus(what: string, outcome: string, status: number | null): string | null {
  if (outcome !== 'unknown' || status === null || status === 429 || status === 503) return null;
  return `${what} was met with ${status}`;
}

function gapBefore({ next, optionalTo }: Place, asked: number): string | null {
  if (next === null || asked === next) return null;
  if (asked < next) return `interval ${asked} came after interval ${next - 1}`;
  return asked - 1 <= optionalTo ? null : `intervals ${next} to ${asked - 1} were left out`;
}
