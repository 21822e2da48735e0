import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FeedEvent } from '../../protocol/feed.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import { chatsWith, sampleQuiz } from '../../test/support/crowd/events.ts';
import { CHECKS, type Check, CheckRecorder } from './check-results.ts';
import { type FeedPosition, Ledger } from './ledger.ts';

const FIRST = 6_800_000_000;
const quiz = sampleQuiz({ closeInterval: FIRST + 4 });
const choices = { Mars: { count: 1, percentage: 100 }, Jupiter: { count: 0, percentage: 0 } };
const results: FeedEvent = { type: 'quiz-results', data: { ...quiz, choices, answer: 'Mars' } };

/** A viewer that reads made-up intervals, each just after its end. */
function setUp() {
  const recorder = new CheckRecorder();
  const events: string[] = [];
  const ledger = new Ledger(
    recorder,
    (event, interval) => events.push(`${event.type} ${interval - FIRST}`),
    () => {},
  );
  const bytesOf = (interval: number, events: readonly FeedEvent[]) =>
    new TextEncoder().encode(JSON.stringify({ interval, events }));
  const position = (optionalTo = -1): FeedPosition => ({ next: null, optionalTo });
  const reader = position();
  const read = (number: number, events: readonly FeedEvent[] = [], at = reader) => {
    const interval = FIRST + number;
    const receivedMs = intervalStartMs(interval + 1) + 5;
    return ledger.onInterval(at, interval, bytesOf(interval, events), receivedMs);
  };
  let seats = 0;
  return {
    ledger,
    /** A viewer's heartbeat is acknowledged at the start of an interval. */
    heartbeat: (number: number, viewer = 1) => {
      const atMs = intervalStartMs(FIRST + number);
      ledger.counts.acknowledged(ledger.counts.sent(viewer, atMs), atMs + 2);
    },
    /** A `view-count` event is read. */
    count: (number: number, value: number) =>
      read(number, [{ type: 'view-count', data: { value, formatted: `${value}` } }]),
    /** `others` external viewers join, and a probe in this interval reveals their number. */
    probe: (number: number, others = 0) => {
      seats += others;
      ledger.externalViewers.probeSent(0);
      ledger.onProbe([{ seat: seats++, sub: 'probe' }], intervalStartMs(FIRST + number));
      ledger.runDueChecks(intervalStartMs(FIRST + number + 4));
    },
    events,
    position,
    read,
    settle: (number: number) => ledger.runDueChecks(intervalStartMs(FIRST + number)),
    failedChecks: () => CHECKS.filter((check) => recorder.results()[check].mismatches > 0),
    issue: (check: Check) => recorder.results()[check].first,
  };
}

describe('Ledger', () => {
  test('Ledger handles each event once and in feed order, whichever viewer reads it first', () => {
    const numbers = Array.from({ length: 12 }, (_, number) => number);
    const orders = fc.shuffledSubarray(numbers.slice(1), { minLength: 11 });
    fc.assert(
      fc.property(orders, (order) => {
        const { read, events, position, failedChecks } = setUp();
        // One viewer has read the first interval; then each reads on at its own pace.
        for (const number of [0, ...order, ...order]) {
          read(number, [{ type: 'caption', data: { number } }], position());
        }
        expect(events).toEqual(numbers.map((number) => `caption ${number}`));
        expect(failedChecks()).toEqual([]);
      }),
    );
  });

  test('[F-10] Ledger reports an interval that a viewer does not get', () => {
    const { read, issue } = setUp();
    read(0);
    read(1);
    read(4);
    expect(issue('intervals')).toBe(`intervals ${FIRST + 2} to ${FIRST + 3} were omitted`);
  });

  test('[F-21] Ledger reports an interval that a viewer gets twice', () => {
    const { read, issue } = setUp();
    read(0);
    read(1);
    read(1);
    expect(issue('intervals')).toBe(`interval ${FIRST + 1} came after interval ${FIRST + 1}`);
  });

  test('[F-23] Ledger lets an event stream omit only intervals sealed before it began', () => {
    const { read, failedChecks, position } = setUp();
    const stream = position(FIRST + 3);
    read(0, [], stream);
    read(4, [], stream);
    expect(failedChecks()).toEqual([]);
    read(6, [], stream);
    expect(failedChecks()).toEqual(['intervals']);
  });

  test('[I-1] Ledger reports a second body of an interval and ignores its events', () => {
    const { read, failedChecks, events, position } = setUp();
    read(0);
    read(0, [{ type: 'caption', data: {} }], position());
    expect(failedChecks()).toEqual(['bodies']);
    expect(events).toEqual([]);
  });

  test('[F-26] Ledger reports a count outside of the bounds of the heartbeats', () => {
    const { heartbeat, count, probe, failedChecks, issue } = setUp();
    heartbeat(1);
    count(3, 1);
    probe(4);
    expect(failedChecks()).toEqual([]);
    count(4, 2);
    probe(8);
    expect(issue('count')).toBe('a view-count event says 2, but 1 to 1 viewers were present');
  });

  test('[O-18] Ledger allows counts to include as many viewers from outside as have seats', () => {
    const { ledger, heartbeat, count, probe, failedChecks, issue } = setUp();
    for (const number of [0, 1, 2, 3]) heartbeat(number);
    count(0, 3);
    probe(1, 2);
    count(1, 3);
    count(2, 1);
    expect(failedChecks()).toEqual([]);
    expect(ledger.externalViewers.hasPendingChecks()).toBe(false);
    count(3, 4);
    probe(4);
    expect(issue('count')).toBe(
      'a view-count event says 4, but 1 to 1 viewers were present, with at most 2 from outside',
    );
  });

  test('[O-18] Ledger reports a count that lacks a simulated viewer, also with viewers from outside', () => {
    const { heartbeat, count, probe, issue } = setUp();
    for (const viewer of [1, 2]) heartbeat(0, viewer);
    probe(0, 5);
    count(0, 1);
    expect(issue('count')).toContain('a view-count event says 1, but 2 to 2 viewers were present');
  });

  test('[O-18] Ledger allows results and winners to include viewers from outside', () => {
    const failedChecksOf = (right: number, winners: number) => {
      const { ledger, read, probe, settle, failedChecks } = setUp();
      for (const key of ['quiz quiz', 'quiz-results quiz', 'request-quiz-winners 1']) {
        ledger.expectEvent(key, intervalStartMs(FIRST));
      }
      read(0, [{ type: 'quiz', data: quiz }]);
      const rightChoices = { ...choices, Mars: { count: right, percentage: 100 } };
      for (const number of [1, 2, 3]) read(number);
      read(4, [{ type: 'quiz-results', data: { ...quiz, choices: rightChoices, answer: 'Mars' } }]);
      read(5, [{ type: 'request-quiz-winners', data: null }]);
      for (const number of [6, 7, 8]) read(number);
      read(9, [{ type: 'quiz-winners', data: { count: winners } }]);
      settle(20);
      probe(20, 3);
      settle(100);
      return failedChecks();
    };
    expect(failedChecksOf(3, 3)).toEqual([]);
    expect(failedChecksOf(2, 1)).toEqual([]);
    expect(failedChecksOf(4, 3)).toEqual(['answers']);
    expect(failedChecksOf(2, 3)).toEqual(['winners']);
  });

  test('[C-5] Ledger reports a chat message of a viewer without a seat', () => {
    const { read, probe, failedChecks, issue } = setUp();
    const message = (viewer: string) => ({ id: viewer, viewer, name: '', text: 'Hello', at: 0 });
    const chats = (...viewers: string[]): FeedEvent => ({
      type: 'chats',
      data: chatsWith({ messages: viewers.map(message) }),
    });
    read(0, [chats('bob', 'bob')]);
    probe(0, 1);
    expect(failedChecks()).toEqual([]);
    read(1, [chats('bob', 'probe', 'ann')]);
    probe(1);
    expect(issue('events')).toBe(
      'chat messages are from 2 viewers outside of the crowd, with at most 1 from outside',
    );
  });

  test('[V-6] Ledger reports a read count without an acknowledged heartbeat', () => {
    const { ledger, heartbeat, failedChecks } = setUp();
    const atMs = intervalStartMs(FIRST);
    heartbeat(0);
    ledger.onCountRead({ value: 1, formatted: '1' }, atMs + 2, atMs + 4);
    expect(failedChecks()).toEqual([]);
    ledger.onCountRead({ value: 0, formatted: '0' }, atMs + 5, atMs + 7);
    expect(failedChecks()).toEqual(['count']);
  });

  test('[K-5] Ledger does not check counts just after a step of the clock', () => {
    const { ledger, read, count, probe, failedChecks } = setUp();
    ledger.clockStepped(intervalStartMs(FIRST));
    count(3, 7);
    expect(failedChecks()).toEqual([]);
    for (let number = 4; number < 15; number++) read(number);
    count(15, 7);
    probe(16);
    expect(failedChecks()).toEqual(['count']);
  });

  test('[I-3] Ledger compares results one second after they were read, when pending answers have responses', () => {
    const { ledger, read, settle, probe, failedChecks, issue } = setUp();
    ledger.expectEvent('quiz quiz', intervalStartMs(FIRST));
    read(0, [{ type: 'quiz', data: quiz }]);
    const attempt = ledger.answers.sent(quiz, 1, 'Jupiter', intervalStartMs(FIRST + 1));
    for (const number of [1, 2, 3, 4]) read(number);
    read(5, [results]);
    ledger.onAnswerResponse(attempt, 'recorded', intervalStartMs(FIRST + 2), 204);
    expect(failedChecks()).toEqual([]);
    settle(12);
    probe(12);
    expect(failedChecks()).toEqual(['answers']);
    expect(issue('answers')).toContain('count 1 for "Mars", but 0 were acknowledged');
  });

  test('[Q-19] Ledger reports results before the close', () => {
    const { read, issue } = setUp();
    read(0, [{ type: 'quiz', data: quiz }]);
    read(1, [results]);
    expect(issue('answers')).toContain('were published before its close');
  });

  test('[I-7] Ledger reports unexpected statuses of answers', () => {
    const { ledger, failedChecks } = setUp();
    const sent = () => ledger.answers.sent(quiz, 1, 'Mars', 0);
    for (const status of [null, 429, 503]) ledger.onAnswerResponse(sent(), 'unknown', 0, status);
    expect(failedChecks()).toEqual([]);
    ledger.onAnswerResponse(sent(), 'unknown', 0, 400);
    const round = ledger.winners.onRequest(FIRST);
    ledger.onWinnerResponse(ledger.winners.sent(round, 1), 'unknown', 0, 500);
    expect(failedChecks()).toEqual(['answers', 'winners']);
  });

  test('[W-5] Ledger checks that winners are published once, on time, and match acknowledgments', () => {
    const winners = (count: number): FeedEvent => ({ type: 'quiz-winners', data: { count } });
    const failedChecksOf = (at: number, count: number, skipped: readonly number[] = []) => {
      const { ledger, read, settle, probe, failedChecks } = setUp();
      ledger.expectEvent('request-quiz-winners 1', intervalStartMs(FIRST));
      if (!skipped.includes(-1)) read(-1);
      read(0, [{ type: 'request-quiz-winners', data: null }]);
      const round = ledger.winners.latest();
      if (!round) throw new Error('no round was opened');
      const claim = ledger.winners.sent(round, 1);
      ledger.onWinnerResponse(claim, 'won', intervalStartMs(FIRST + 1), 204);
      for (let number = 1; number < at; number++) if (!skipped.includes(number)) read(number);
      read(at, [winners(count)]);
      settle(100);
      probe(100);
      return failedChecks();
    };
    expect(failedChecksOf(4, 1)).toEqual([]);
    expect(failedChecksOf(4, 2)).toEqual(['winners']);
    expect(failedChecksOf(5, 1)).toEqual(['winners']);
    expect(failedChecksOf(3, 1)).toEqual(['winners']);
    // Rounds go on after a sealing that skips intervals.
    expect(failedChecksOf(11, 1, [1, 2])).not.toContain('winners');
    expect(failedChecksOf(21, 1, [-1])).not.toContain('winners');
  });

  test('[I-2] Ledger reports an expected event that never appears', () => {
    const { ledger, settle, issue } = setUp();
    ledger.expectEvent('caption {"n":1}', intervalStartMs(FIRST));
    settle(8);
    expect(issue('events')).toBeNull();
    settle(40);
    expect(issue('events')).toBe('event caption {"n":1} is not in the feed');
  });

  test('[I-2] Ledger finds expected purchases and custom events of the producer in the feed', () => {
    const { ledger, read, settle, failedChecks } = setUp();
    const purchase = { id: 'p1', viewer: '', name: 'Host', text: 'Poster, order 1', at: 0 };
    ledger.expectEvent('purchase Poster, order 1', intervalStartMs(FIRST));
    ledger.expectEvent('caption {"n":1}', intervalStartMs(FIRST));
    read(0, [
      { type: 'chats', data: chatsWith({ purchases: [purchase] }) },
      { type: 'caption', data: { n: 1 } },
    ]);
    settle(100);
    expect(failedChecks()).toEqual([]);
  });
});
