import type { Chats, EventsInterval, FeedEvent } from '../../protocol/feed.ts';
import { INTERVAL_MS, intervalStartMs } from '../../protocol/interval.ts';
import {
  WINNERS_CATCH_UP_INTERVALS_MAX,
  WINNERS_DELAY_INTERVALS,
  WINNERS_PROLONGED_INTERVALS,
} from '../../protocol/limits.ts';
import type { Quiz, QuizResults } from '../../protocol/quizzes.ts';
import type { ViewCount } from '../../protocol/view-counts.ts';
import { AnswerLedger, type AnswerOutcome, type SentAnswer } from './answer-ledger.ts';
import { BodyLedger } from './body-ledger.ts';
import type { Check, CheckRecorder } from './check-results.ts';
import { type CountBounds, CountLedger } from './count-ledger.ts';
import { isOf } from './event-kinds.ts';
import { EventLedger } from './event-ledger.ts';
import { ExternalViewers, externalViewersSuffix, type TokenIdentity } from './external-viewers.ts';
import {
  type Round,
  WinnerLedger,
  type WinnerReport,
  type WinnerReportOutcome,
} from './winner-ledger.ts';

// Delay of checks after an event: pending responses have arrived by then.
const SETTLE_MS = 1_000;
// Time limit for an expected event to appear in the feed.
const DUE_AFTER_MS = 8_000;
// The count of a round may follow its request this many intervals later (SPEC W-5), after a second outage even more.
const WINNERS_COUNT_INTERVALS_MAX = WINNERS_PROLONGED_INTERVALS + WINNERS_CATCH_UP_INTERVALS_MAX;
// A count that is read later than this is not checked: its heartbeats may have been removed.
const COUNT_CHECK_MAX_MS = 4_000;
// After this time, heartbeats from before a clock step no longer affect a count.
const CLOCK_UNSURE_MS = 3_000;
// An interval is reported as unread when more than this many later intervals were read.
const UNREAD_MAX = 40;

/** A viewer's position in the feed. */
export interface FeedPosition {
  /** The interval that must follow; null before the first. */
  next: number | null;
  /** Intervals up to here may be omitted (F-23: sealed and empty when an event stream began). */
  optionalTo: number;
}

export interface CheckedCount extends CountBounds {
  readonly count: ViewCount;
  /** Upper bound of the viewers from outside of the crowd. */
  readonly externalViewers: number;
  /** Whether the count is from a `view-count` event; if false, a viewer requested it. */
  readonly isEvent: boolean;
}

/**
 * Checks the service from the outside (O-18): it gets everything that the viewers send and read and
 * every event that was acknowledged to the host, and records whether the service's data agrees.
 */
export class Ledger {
  readonly counts = new CountLedger();
  readonly answers = new AnswerLedger();
  readonly winners = new WinnerLedger(this.answers);
  readonly externalViewers = new ExternalViewers();
  private readonly events = new EventLedger();
  private readonly bodies = new BodyLedger();
  private readonly outOfOrder = new Map<number, { events: EventsInterval; receivedMs: number }>();
  private readonly readTimesMs = new Map<number, number>();
  private delayedChecks: { dueMs: number; settle: () => void }[] = [];
  private next: number | null = null;
  private clockUnsureUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * @param onEvent called with each event of the feed once, in order
   * @param onCount called with each count that was compared
   */
  constructor(
    private readonly checks: CheckRecorder,
    private readonly onEvent: (event: FeedEvent, interval: number) => void,
    private readonly onCount: (checked: CheckedCount) => void,
  ) {}

  /**
   * Takes an interval that a viewer read.
   * @param requested the number of the interval that was requested
   * @param receivedMs upper bound of service time at the read
   */
  onInterval(
    position: FeedPosition,
    requested: number,
    bytes: Uint8Array,
    receivedMs: number,
  ): EventsInterval {
    const { interval, isFirstRead, mismatch } = this.bodies.read(requested, bytes);
    this.checks.record('bodies', mismatch);
    this.checks.record('intervals', gapBefore(position, requested));
    position.next = requested + 1;
    if (isFirstRead && mismatch === null) this.putInOrder(requested, interval, receivedMs);
    return interval;
  }

  /** Takes a count that a viewer read between two service times. */
  onCountRead(count: ViewCount, fromMs: number, toMs: number): void {
    if (fromMs < this.clockUnsureUntilMs) return;
    this.compareCount({ count, isEvent: false, ...this.counts.boundsBetween(fromMs, toMs) });
  }

  /** Suspends checks of counts after a step of the service's clock (K-5). */
  clockStepped(nowMs: number): void {
    this.clockUnsureUntilMs = nowMs + CLOCK_UNSURE_MS;
  }

  /** Expects an event that was acknowledged to the host. @param fromMs service time; not earlier */
  expectEvent(key: string, fromMs: number): void {
    this.events.expect(key, fromMs + DUE_AFTER_MS);
  }

  /** Takes the response to an answer. @param status null when the connection broke */
  onAnswerResponse(
    attempt: SentAnswer,
    outcome: AnswerOutcome,
    latestMs: number,
    status: number | null,
  ): void {
    const mismatch = this.answers.checkResponse(attempt, outcome, latestMs);
    this.checks.record('answers', mismatch ?? unexpectedStatus('an answer', outcome, status));
  }

  /** Takes the response to a winner report. @param status null when the connection broke */
  onWinnerResponse(
    claim: WinnerReport,
    outcome: WinnerReportOutcome,
    latestMs: number,
    status: number | null,
  ): void {
    const mismatch = this.winners.checkResponse(claim, outcome, latestMs);
    this.checks.record('winners', mismatch ?? unexpectedStatus('a winner report', outcome, status));
  }

  /** Takes the tokens of a probe. @param receivedMs upper bound of service time */
  onProbe(tokens: readonly TokenIdentity[], receivedMs: number): void {
    this.externalViewers.probeReturned(tokens);
    this.delay(receivedMs, () => this.externalViewers.settle());
  }

  /** Runs the checks that are due. @param nowMs service time */
  runDueChecks(nowMs: number): void {
    const due = this.delayedChecks.filter(({ dueMs }) => dueMs <= nowMs);
    this.delayedChecks = this.delayedChecks.filter(({ dueMs }) => dueMs > nowMs);
    for (const { settle } of due) settle();
    for (const mismatch of this.events.check(nowMs)) this.checks.record('events', mismatch);
  }

  // Viewers read intervals in any order; events are handled in the order of the feed.
  private putInOrder(number: number, events: EventsInterval, receivedMs: number): void {
    this.next ??= number;
    if (number < this.next) return;
    this.outOfOrder.set(number, { events, receivedMs });
    if (this.outOfOrder.size > UNREAD_MAX) {
      this.checks.record('intervals', `interval ${this.next} was not read by any viewer`);
      this.next = Math.min(...this.outOfOrder.keys());
    }
    for (let read = this.outOfOrder.get(this.next); read; read = this.outOfOrder.get(this.next)) {
      this.outOfOrder.delete(this.next);
      this.readTimesMs.set(this.next, read.receivedMs);
      this.readTimesMs.delete(this.next - WINNERS_COUNT_INTERVALS_MAX);
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
    this.compareCount({ count, isEvent: true, ...this.counts.boundsAtEndOf(interval) });
  }

  private compareCount(checked: Omit<CheckedCount, 'externalViewers'>): void {
    const { count, low, high, isEvent } = checked;
    const subject = isEvent ? 'a view-count event' : 'a read';
    this.checkWithOthers('count', (others) => {
      if (count.value >= low && count.value <= high + others) return null;
      return `${subject} says ${count.value}, but ${low} to ${high} viewers were present${externalViewersSuffix(others)}`;
    });
    this.onCount({ ...checked, externalViewers: this.externalViewers.count() });
  }

  // C-5: the author of a message has a token, and so a seat.
  private checkAuthors({ messages, questions, greetings, cheers }: Chats): void {
    for (const { viewer } of [...messages, ...questions, ...greetings, ...cheers]) {
      if (!this.externalViewers.addAuthor(viewer)) continue;
      const authorCount = this.externalViewers.authorCount();
      this.checkWithOthers('events', (others) => {
        if (authorCount <= others) return null;
        return `chat messages are from ${authorCount} viewers outside of the crowd${externalViewersSuffix(others)}`;
      });
    }
  }

  private handleQuiz(quiz: Quiz, receivedMs: number): void {
    this.recordEvent(`quiz ${quiz.id}`, receivedMs);
    this.checks.record('answers', this.answers.onQuiz(quiz));
    this.winners.onQuiz(quiz.id);
  }

  private handleResults(results: QuizResults, interval: number, receivedMs: number): void {
    this.recordEvent(`quiz-results ${results.id}`, receivedMs);
    this.answers.onResults(results);
    if (interval < results.closeInterval) {
      this.checks.record(
        'answers',
        `the results of quiz ${results.id} were published before its close`,
      );
    }
    this.delay(receivedMs, () => {
      this.checkWithOthers('answers', (others) => this.answers.check(results, others));
    });
  }

  private handleWinnersRequest(interval: number, receivedMs: number): void {
    const round = this.winners.onRequest(interval);
    this.recordEvent(`request-quiz-winners ${round.number}`, receivedMs);
    const latestMs = receivedMs + WINNERS_COUNT_INTERVALS_MAX * INTERVAL_MS;
    this.expectEvent(`quiz-winners ${round.number}`, latestMs);
  }

  private handleWinners(count: number, interval: number, receivedMs: number): void {
    const round = this.winners.latest();
    if (!round) {
      this.checks.record('winners', 'winners were published without a request');
      return;
    }
    this.recordEvent(`quiz-winners ${round.number}`, receivedMs);
    this.checks.record('winners', this.winners.checkDelay(round, interval, this.isOnTime(round)));
    this.delay(receivedMs, () => {
      this.checkWithOthers('winners', (others) => this.winners.check(round, count, others));
    });
  }

  // Whether each interval from before the request to the count was sealed on time: a viewer read it before the next
  // one ended. The one before: the sealing of the request may have skipped it.
  private isOnTime(round: Round): boolean {
    for (let after = -1; after <= WINNERS_DELAY_INTERVALS; after++) {
      const interval = round.interval + after;
      const readMs = this.readTimesMs.get(interval) ?? Number.POSITIVE_INFINITY;
      if (readMs >= intervalStartMs(interval + 2)) return false;
    }
    return true;
  }

  private recordEvent(key: string, receivedMs: number): void {
    this.events.onEvent(key, receivedMs + DUE_AFTER_MS);
  }

  private checkWithOthers(check: Check, mismatchWith: (others: number) => string | null): void {
    this.externalViewers.check({
      mismatchWith,
      record: (mismatch) => this.checks.record(check, mismatch),
    });
  }

  private delay(nowMs: number, settle: () => void): void {
    this.delayedChecks.push({ dueMs: nowMs + SETTLE_MS, settle });
  }
}

// A correct client may get 429 or 503 besides an acceptance or a refusal (L-9, R-15).
function unexpectedStatus(what: string, outcome: string, status: number | null): string | null {
  if (outcome !== 'unknown' || status === null || status === 429 || status === 503) return null;
  return `${what} got status ${status}`;
}

function gapBefore({ next, optionalTo }: FeedPosition, requested: number): string | null {
  if (next === null || requested === next) return null;
  if (requested < next) return `interval ${requested} came after interval ${next - 1}`;
  return requested - 1 <= optionalTo ? null : `intervals ${next} to ${requested - 1} were omitted`;
}
