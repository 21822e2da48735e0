import type { Chats, EventsInterval, FeedEvent } from '../../protocol/feed.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import { WINNERS_DELAY_INTERVALS } from '../../protocol/limits.ts';
import type { Quiz, QuizResults } from '../../protocol/quizzes.ts';
import type { ViewCount } from '../../protocol/view-counts.ts';
import { AnswerLedger, type AnswerOutcome, type SentAnswer } from './answer-ledger.ts';
import { BodyLedger } from './body-ledger.ts';
import type { Check, CheckRecorder } from './check-results.ts';
import { type CountBounds, CountLedger } from './count-ledger.ts';
import { isOf } from './event-kinds.ts';
import { EventLedger } from './event-ledger.ts';
import { Outsiders, outsidersSuffix, type TokenIdentity } from './outsiders.ts';
import {
  type Round,
  WinnerLedger,
  type WinnerReport,
  type WinnerReportOutcome,
} from './winner-ledger.ts';

// Responses that are under way when results are read are known by then.
const SETTLE_MS = 1_000;
// An event that is not in the feed by then is missing, not late.
const DUE_AFTER_MS = 8_000;
// A count that we read later than this is older than the heartbeats that are kept.
const COUNT_CHECK_MAX_MS = 4_000;
// No heartbeat from before a step of the clock decides a count any more.
const CLOCK_UNSURE_MS = 3_000;
// Intervals that nobody in the crowd read; it is small, and everybody was unavailable.
const UNREAD_MAX = 40;

/** Where a viewer is in the feed. */
export interface FeedPosition {
  /** The interval that must come next; null before the first. */
  next: number | null;
  /** Intervals up to here may be left out (F-23: sealed and empty when an event stream began). */
  optionalTo: number;
}

/** A count of the service beside what our ledger says. */
export interface CheckedCount extends CountBounds {
  readonly count: ViewCount;
  /** Viewers of whom our ledger knows nothing, at most. */
  readonly outsiders: number;
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
  readonly outsiders = new Outsiders();
  private readonly events = new EventLedger();
  private readonly bodies = new BodyLedger();
  private readonly outOfOrder = new Map<number, { events: EventsInterval; receivedMs: number }>();
  private readonly receivedMs = new Map<number, number>();
  private delayedChecks: { dueMs: number; settle: () => void }[] = [];
  private next: number | null = null;
  private clockUnsureUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * @param onEvent told each event of the feed once, in order
   * @param onCount told each count that was compared
   */
  constructor(
    private readonly checks: CheckRecorder,
    private readonly onEvent: (event: FeedEvent, interval: number) => void,
    private readonly onCount: (checked: CheckedCount) => void,
  ) {}

  /**
   * A viewer read an interval.
   * @param receivedMs the latest that service time can be
   */
  onInterval(
    place: FeedPosition,
    asked: number,
    bytes: Uint8Array,
    receivedMs: number,
  ): EventsInterval {
    const { interval, first, mismatch } = this.bodies.read(asked, bytes);
    this.checks.record('bodies', mismatch);
    this.checks.record('intervals', gapBefore(place, asked));
    place.next = asked + 1;
    if (first && mismatch === null) this.putInOrder(asked, interval, receivedMs);
    return interval;
  }

  /** A viewer read the count itself. @param fromMs between these moments of service time */
  onCountRead(count: ViewCount, fromMs: number, toMs: number): void {
    if (fromMs < this.clockUnsureUntilMs) return;
    this.compareCount({ count, isEvent: false, ...this.counts.between(fromMs, toMs) });
  }

  /** The service's clock was stepped (K-5): what was noted just before may be wrong by that. */
  clockStepped(nowMs: number): void {
    this.clockUnsureUntilMs = nowMs + CLOCK_UNSURE_MS;
  }

  /** The host was promised an event. @param fromMs service time from which it may come */
  expectEvent(key: string, fromMs: number): void {
    this.events.expect(key, fromMs + DUE_AFTER_MS);
  }

  /** An answer has its response. @param status null when the connection broke */
  answered(
    attempt: SentAnswer,
    outcome: AnswerOutcome,
    latestMs: number,
    status: number | null,
  ): void {
    const mismatch = this.answers.settled(attempt, outcome, latestMs);
    this.checks.record('answers', mismatch ?? unexpectedStatus('an answer', outcome, status));
  }

  /** A winner report has its response. @param status null when the connection broke */
  claimed(
    claim: WinnerReport,
    outcome: WinnerReportOutcome,
    latestMs: number,
    status: number | null,
  ): void {
    const mismatch = this.winners.settled(claim, outcome, latestMs);
    this.checks.record('winners', mismatch ?? unexpectedStatus('a winner report', outcome, status));
  }

  /** A probe tells who else is here. @param receivedMs the latest that service time can be */
  probed(holders: readonly TokenIdentity[], receivedMs: number): void {
    this.outsiders.probeReturned(holders);
    this.delay(receivedMs, () => this.outsiders.settle());
  }

  /** Makes the checks that are due. @param nowMs service time */
  runDueChecks(nowMs: number): void {
    const due = this.delayedChecks.filter(({ dueMs }) => dueMs <= nowMs);
    this.delayedChecks = this.delayedChecks.filter(({ dueMs }) => dueMs > nowMs);
    for (const { settle } of due) settle();
    for (const mismatch of this.events.check(nowMs)) this.checks.record('events', mismatch);
  }

  // Two viewers' responses can be read in either order; events are taken as the feed has them.
  private putInOrder(number: number, events: EventsInterval, receivedMs: number): void {
    this.next ??= number;
    if (number < this.next) return;
    this.outOfOrder.set(number, { events, receivedMs });
    if (this.outOfOrder.size > UNREAD_MAX) {
      this.checks.record('intervals', `interval ${this.next} was read by nobody`);
      this.next = Math.min(...this.outOfOrder.keys());
    }
    for (let read = this.outOfOrder.get(this.next); read; read = this.outOfOrder.get(this.next)) {
      this.outOfOrder.delete(this.next);
      this.receivedMs.set(this.next, read.receivedMs);
      this.receivedMs.delete(this.next - 2 * WINNERS_DELAY_INTERVALS);
      for (const event of read.events.events) this.handleEvent(event, this.next, read.receivedMs);
      this.next++;
    }
  }

  private handleEvent(event: FeedEvent, interval: number, receivedMs: number): void {
    this.onEvent(event, interval);
    if (isOf(event, 'view-count')) this.checkCount(event.data, interval, receivedMs);
    else if (isOf(event, 'quiz')) this.handleQuiz(event.data, receivedMs);
    else if (isOf(event, 'quiz-results')) this.handleResults(event.data, interval, receivedMs);
    else if (isOf(event, 'request-quiz-winners')) this.handleWinnersRequest(interval, receivedMs);
    else if (isOf(event, 'quiz-winners'))
      this.handleWinners(event.data.count, interval, receivedMs);
    else if (isOf(event, 'chats')) {
      for (const { text } of event.data.purchases) this.recordEvent(`purchase ${text}`, receivedMs);
      this.checkAuthors(event.data);
    } else this.recordEvent(`${event.type} ${JSON.stringify(event.data)}`, receivedMs);
  }

  private checkCount(count: ViewCount, interval: number, receivedMs: number): void {
    if (receivedMs - intervalStartMs(interval) > COUNT_CHECK_MAX_MS) return;
    if (receivedMs < this.clockUnsureUntilMs) return;
    this.compareCount({ count, isEvent: true, ...this.counts.atEndOf(interval) });
  }

  private compareCount(checked: Omit<CheckedCount, 'outsiders'>): void {
    const { count, low, high, isEvent } = checked;
    const where = isEvent ? 'a view-count event' : 'a read';
    this.checkWithOutsiders('count', (others) => {
      if (count.value >= low && count.value <= high + others) return null;
      return `${where} says ${count.value}, and ${low} to ${high} were here${outsidersSuffix(others)}`;
    });
    this.onCount({ ...checked, outsiders: this.outsiders.known() });
  }

  // C-5: whoever says something has a token, and so a seat.
  private checkAuthors({ messages, questions, greetings, cheers }: Chats): void {
    for (const { viewer } of [...messages, ...questions, ...greetings, ...cheers]) {
      if (!this.outsiders.addAuthor(viewer)) continue;
      const speakers = this.outsiders.authorCount();
      this.checkWithOutsiders('events', (others) => {
        if (speakers <= others) return null;
        return `chat lines are of ${speakers} who are not of the crowd${outsidersSuffix(others)}`;
      });
    }
  }

  private handleQuiz(quiz: Quiz, receivedMs: number): void {
    this.recordEvent(`quiz ${quiz.id}`, receivedMs);
    this.checks.record('answers', this.answers.asked(quiz));
    this.winners.asked(quiz.id);
  }

  private handleResults(results: QuizResults, interval: number, receivedMs: number): void {
    this.recordEvent(`quiz-results ${results.id}`, receivedMs);
    this.answers.revealed(results);
    if (interval < results.closeInterval) {
      this.checks.record('answers', `the results of quiz ${results.id} came before its close`);
    }
    this.delay(receivedMs, () => {
      this.checkWithOutsiders('answers', (others) => this.answers.check(results, others));
    });
  }

  private handleWinnersRequest(interval: number, receivedMs: number): void {
    const round = this.winners.requested(interval);
    this.recordEvent(`request-quiz-winners ${round.number}`, receivedMs);
    this.expectEvent(`quiz-winners ${round.number}`, receivedMs);
  }

  private handleWinners(count: number, interval: number, receivedMs: number): void {
    const round = this.winners.latest();
    if (!round) {
      this.checks.record('winners', 'winners were counted without a request');
      return;
    }
    this.recordEvent(`quiz-winners ${round.number}`, receivedMs);
    this.checks.record('winners', this.winners.checkDelay(round, interval, this.isPunctual(round)));
    this.delay(receivedMs, () => {
      this.checkWithOutsiders('winners', (others) => this.winners.check(round, count, others));
    });
  }

  // An interval that we had before the next one ended was sealed as the newest, not skipped.
  private isPunctual(round: Round): boolean {
    const due = round.interval + WINNERS_DELAY_INTERVALS;
    return (this.receivedMs.get(due) ?? Number.POSITIVE_INFINITY) < intervalStartMs(due + 2);
  }

  private recordEvent(key: string, receivedMs: number): void {
    this.events.seen(key, receivedMs + DUE_AFTER_MS);
  }

  private checkWithOutsiders(check: Check, mismatchWith: (others: number) => string | null): void {
    this.outsiders.check({
      mismatchWith,
      record: (mismatch) => this.checks.record(check, mismatch),
    });
  }

  private delay(nowMs: number, settle: () => void): void {
    this.delayedChecks.push({ dueMs: nowMs + SETTLE_MS, settle });
  }
}

// What a client that does everything right can get besides a yes and a no: try again (L-9, R-15).
function unexpectedStatus(what: string, outcome: string, status: number | null): string | null {
  if (outcome !== 'unknown' || status === null || status === 429 || status === 503) return null;
  return `${what} was met with ${status}`;
}

function gapBefore({ next, optionalTo }: FeedPosition, asked: number): string | null {
  if (next === null || asked === next) return null;
  if (asked < next) return `interval ${asked} came after interval ${next - 1}`;
  return asked - 1 <= optionalTo ? null : `intervals ${next} to ${asked - 1} were left out`;
}
