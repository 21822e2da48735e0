import { describe, expect, test } from 'bun:test';
import { EventLedger } from './event-ledger.ts';

describe('EventLedger', () => {
  test('[I-2] EventLedger accepts an event that is expected and seen once, in any order', () => {
    const ledger = new EventLedger();
    ledger.expect('quiz a', 100);
    ledger.onEvent('quiz a', 100);
    ledger.onEvent('quiz b', 100);
    ledger.expect('quiz b', 100);
    expect(ledger.check(99)).toEqual([]);
    expect(ledger.check(100)).toEqual([null, null]);
    expect(ledger.check(200)).toEqual([]);
  });

  test('[I-2] EventLedger reports an event that is not seen by its deadline', () => {
    const ledger = new EventLedger();
    ledger.expect('quiz a', 100);
    expect(ledger.check(100)).toEqual(['event quiz a is not in the feed']);
  });

  test('[I-4] EventLedger reports an event that is seen twice, however late', () => {
    const ledger = new EventLedger();
    ledger.expect('results a', 100);
    ledger.onEvent('results a', 100);
    ledger.onEvent('results a', 100);
    expect(ledger.check(100)).toEqual(['event results a is in the feed 2 times']);
    ledger.expect('results b', 100);
    ledger.onEvent('results b', 100);
    expect(ledger.check(100)).toEqual([null]);
    ledger.onEvent('results b', 900);
    expect(ledger.check(101)).toEqual(['event results b is in the feed again']);
  });

  test('[I-2] EventLedger reports an event that was not sent', () => {
    const ledger = new EventLedger();
    ledger.onEvent('quiz a', 100);
    expect(ledger.check(100)).toEqual(['event quiz a is in the feed, but was not sent']);
  });

  test('EventLedger uses the later of two deadlines', () => {
    const ledger = new EventLedger();
    ledger.onEvent('results a', 100);
    ledger.expect('results a', 300);
    expect(ledger.check(200)).toEqual([]);
    expect(ledger.check(300)).toEqual([null]);
  });
});
