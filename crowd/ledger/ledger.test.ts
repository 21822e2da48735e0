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
    /** Outsiders have joined, and a probe in this interval reveals their number. */
    probe: (number: number, others = 0) => {
      seats += others;
      ledger.externalViewers.probeSent(0);
      ledger.probed([{ seat: seats++, sub: 'probe' }], intervalStartMs(FIRST + number));
      ledger.runDueChecks(intervalStartMs(FIRST + number + 4));
    },
    events,
    position,
    read,
    settle: (number: number) => ledger.runDueChecks(intervalStartMs(FIRST + number)),
    wrong: () => CHECKS.filter((check) => recorder.results()[check].mismatches > 0),
    first: (check: Check) => recorder.results()[check].first,
  };
}

describe('Ledger', () => {
  test('Ledger handles each event once and in feed order, whichever viewer reads it first', () => {
    const numbers = Array.from({ length: 12 }, (_, number) => number);
    const orders = fc.shuffledSubarray(numbers.slice(1), { minLength: 11 });
    fc.assert(
      fc.property(orders, (order) => {
        const { read, events, position, wrong } = setUp();
        // One viewer has read the first interval; then each reads on at its own pace.
        for (const number of [0, ...order, ...order]) {
          read(number, [{ type: 'caption', data: { number } }], position());
        }
        expect(events).toEqual(numbers.map((number) => `caption ${number}`));
        expect(wrong()).toEqual([]);
      }),
    );
  });

  test('[F-10] Ledger reports an interval that a viewer does not get', () => {
    const { read, first } = setUp();
    read(0);
    read(1);
    read(4);
    expect(first('intervals')).toBe(`intervals ${FIRST + 2} to ${FIRST + 3} were omitted`);
  });

  test('[F-21] Ledger reports an interval that a viewer gets twice', () => {
    const { read, first } = setUp();
    read(0);
    read(1);
    read(1);
    expect(first('intervals')).toBe(`interval ${FIRST + 1} came after interval ${FIRST + 1}`);
  });

  test('[F-23] Ledger lets an event stream omit only intervals sealed before it began', () => {
    const { read, wrong, position } = setUp();
    const stream = position(FIRST + 3);
    read(0, [], stream);
    read(4, [], stream);
    expect(wrong()).toEqual([]);
    read(6, [], stream);
    expect(wrong()).toEqual(['intervals']);
  });

  test('[I-1] Ledger reports a second body of an interval and ignores its events', () => {
    const { read, wrong, events, position } = setUp();
    read(0);
    read(0, [{ type: 'caption', data: {} }], position());
    expect(wrong()).toEqual(['bodies']);
    expect(events).toEqual([]);
  });

  test('[F-26] Ledger reports a count outside of the bounds of the heartbeats', () => {
    const { heartbeat, count, probe, wrong, first } = setUp();
    heartbeat(1);
    count(3, 1);
    probe(4);
    expect(wrong()).toEqual([]);
    count(4, 2);
    probe(8);
    expect(first('count')).toBe('a view-count event says 2, but 1 to 1 viewers were present');
  });

  test('[O-18] Ledger allows counts to include as many viewers from outside as have seats', () => {
    const { ledger, heartbeat, count, probe, wrong, first } = setUp();
    for (const number of [0, 1, 2, 3]) heartbeat(number);
    count(0, 3);
    probe(1, 2);
    count(1, 3);
    count(2, 1);
    expect(wrong()).toEqual([]);
    expect(ledger.externalViewers.hasPendingChecks()).toBe(false);
    count(3, 4);
    probe(4);
    expect(first('count')).toBe(
      'a view-count event says 4, but 1 to 1 viewers were present, with at most 2 from outside',
    );
  });

  test('[O-18] Ledger reports a count that lacks a simulated viewer, also with viewers from outside', () => {
    const { heartbeat, count, probe, first } = setUp();
    for (const viewer of [1, 2]) heartbeat(0, viewer);
    probe(0, 5);
    count(0, 1);
    expect(first('count')).toContain('a view-count event says 1, but 2 to 2 viewers were present');
  });

  test('[O-18] Ledger allows results and winners to include viewers from outside', () => {
    const show = (right: number, winners: number) => {
      const { ledger, read, probe, settle, wrong } = setUp();
      for (const key of ['quiz quiz', 'quiz-results quiz', 'request-quiz-winners 1']) {
        ledger.expectEvent(key, intervalStartMs(FIRST));
      }
      read(0, [{ type: 'quiz', data: quiz }]);
      const falseChoices = { ...choices, Mars: { count: right, percentage: 100 } };
      for (const number of [1, 2, 3]) read(number);
      read(4, [{ type: 'quiz-results', data: { ...quiz, choices: falseChoices, answer: 'Mars' } }]);
      read(5, [{ type: 'request-quiz-winners', data: null }]);
      for (const number of [6, 7, 8]) read(number);
      read(9, [{ type: 'quiz-winners', data: { count: winners } }]);
      settle(20);
      probe(20, 3);
      settle(100);
      return wrong();
    };
    expect(show(3, 3)).toEqual([]);
    expect(show(2, 1)).toEqual([]);
    expect(show(4, 3)).toEqual(['answers']);
    expect(show(2, 3)).toEqual(['winners']);
  });

  test('[C-5] Ledger reports a chat message of a viewer without a seat', () => {
    const { read, probe, wrong, first } = setUp();
    const purchase = (viewer: string) => ({ id: viewer, viewer, name: '', text: 'Hello', at: 0 });
    const chats = (...viewers: string[]): FeedEvent => ({
      type: 'chats',
      data: chatsWith({ messages: viewers.map(purchase) }),
    });
    read(0, [chats('bob', 'bob')]);
    probe(0, 1);
    expect(wrong()).toEqual([]);
    read(1, [chats('bob', 'probe', 'ann')]);
    probe(1);
    expect(first('events')).toBe(
      'chat messages are from 2 viewers outside of the crowd, with at most 1 from outside',
    );
  });

  test('[V-6] Ledger reports a read count without an acknowledged heartbeat', () => {
    const { ledger, heartbeat, wrong } = setUp();
    const atMs = intervalStartMs(FIRST);
    heartbeat(0);
    ledger.onCountRead({ value: 1, formatted: '1' }, atMs + 2, atMs + 4);
    expect(wrong()).toEqual([]);
    ledger.onCountRead({ value: 0, formatted: '0' }, atMs + 5, atMs + 7);
    expect(wrong()).toEqual(['count']);
  });

  test('[K-5] Ledger does not check counts just after a step of the clock', () => {
    const { ledger, read, count, probe, wrong } = setUp();
    ledger.clockStepped(intervalStartMs(FIRST));
    count(3, 7);
    expect(wrong()).toEqual([]);
    for (let number = 4; number < 15; number++) read(number);
    count(15, 7);
    probe(16);
    expect(wrong()).toEqual(['count']);
  });

  test('[I-3] Ledger compares results once every answer has its response', () => {
    const { ledger, read, settle, probe, wrong, first } = setUp();
    ledger.expectEvent('quiz quiz', intervalStartMs(FIRST));
    read(0, [{ type: 'quiz', data: quiz }]);
    const attempt = ledger.answers.sent(quiz, 1, 'Jupiter', intervalStartMs(FIRST + 1));
    for (const number of [1, 2, 3, 4]) read(number);
    read(5, [results]);
    ledger.answered(attempt, 'recorded', intervalStartMs(FIRST + 2), 204);
    expect(wrong()).toEqual([]);
    settle(12);
    probe(12);
    expect(wrong()).toEqual(['answers']);
    expect(first('answers')).toContain('count 1 for "Mars", but 0 were acknowledged');
  });

  test('[Q-19] Ledger reports results before the close', () => {
    const { read, first } = setUp();
    read(0, [{ type: 'quiz', data: quiz }]);
    read(1, [results]);
    expect(first('answers')).toContain('were published before its close');
  });

  test('[I-7] Ledger reports unexpected statuses of answers', () => {
    const { ledger, wrong } = setUp();
    const sent = () => ledger.answers.sent(quiz, 1, 'Mars', 0);
    for (const status of [null, 429, 503]) ledger.answered(sent(), 'unknown', 0, status);
    expect(wrong()).toEqual([]);
    ledger.answered(sent(), 'unknown', 0, 400);
    const round = ledger.winners.onRequest(FIRST);
    ledger.claimed(ledger.winners.sent(round, 1), 'unknown', 0, 500);
    expect(wrong()).toEqual(['answers', 'winners']);
  });

  test('[W-5] Ledger checks that winners are published once, on time, and match acknowledgments', () => {
    const winners = (count: number): FeedEvent => ({ type: 'quiz-winners', data: { count } });
    const show = (at: number, count: number) => {
      const { ledger, read, settle, probe, wrong } = setUp();
      ledger.expectEvent('request-quiz-winners 1', intervalStartMs(FIRST));
      read(0, [{ type: 'request-quiz-winners', data: null }]);
      const round = ledger.winners.latest();
      if (!round) throw new Error('no round was opened');
      const claim = ledger.winners.sent(round, 1);
      ledger.claimed(claim, 'won', intervalStartMs(FIRST + 1), 204);
      for (let number = 1; number < at; number++) read(number);
      read(at, [winners(count)]);
      settle(100);
      probe(100);
      return wrong();
    };
    expect(show(4, 1)).toEqual([]);
    expect(show(4, 2)).toEqual(['winners']);
    expect(show(5, 1)).toEqual(['winners']);
    expect(show(3, 1)).toEqual(['winners']);
  });

  test('[I-2] Ledger reports an expected event that never appears', () => {
    const { ledger, settle, first } = setUp();
    ledger.expectEvent('caption {"n":1}', intervalStartMs(FIRST));
    settle(8);
    expect(first('events')).toBeNull();
    settle(40);
    expect(first('events')).toBe('event caption {"n":1} is not in the feed');
  });

  test('[I-2] Ledger matches purchases and events of the producer', () => {
    const { ledger, read, settle, wrong } = setUp();
    const line = { id: 'p1', viewer: '', name: 'Host', text: 'Poster, order 1', at: 0 };
    ledger.expectEvent('purchase Poster, order 1', intervalStartMs(FIRST));
    ledger.expectEvent('caption {"n":1}', intervalStartMs(FIRST));
    read(0, [
      { type: 'chats', data: chatsWith({ purchases: [line] }) },
      { type: 'caption', data: { n: 1 } },
    ]);
    settle(100);
    expect(wrong()).toEqual([]);
  });
});
