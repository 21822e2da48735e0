import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { Qualification } from './answer-ledger.ts';
import { WinnerLedger, type WinnerReportOutcome } from './winner-ledger.ts';

const INTERVAL = 6_800_000_000;
const OPEN_MS = intervalStartMs(INTERVAL + 2);
const OVER_MS = intervalStartMs(INTERVAL + 6);

function setUp(qualification: Qualification = 'yes', othersRight = 0) {
  const ledger = new WinnerLedger({
    qualification: () => qualification,
    externalViewersQualified: () => othersRight,
  });
  ledger.onQuiz('a');
  ledger.onQuiz('b');
  const round = ledger.onRequest(INTERVAL);
  const claim = (viewer: number, outcome: WinnerReportOutcome, latestMs = OPEN_MS) =>
    ledger.checkResponse(ledger.sent(round, viewer), outcome, latestMs);
  return { ledger, round, claim };
}

describe('WinnerLedger', () => {
  test('[W-1] WinnerLedger rounds cover the quizzes since the previous request', () => {
    const { ledger, round } = setUp();
    expect(round.quizIds).toEqual(['a', 'b']);
    ledger.onQuiz('c');
    expect(ledger.onRequest(INTERVAL + 9)).toMatchObject({ number: 2, quizIds: ['c'] });
    expect(ledger.onRequest(INTERVAL + 19).quizIds).toEqual([]);
  });

  test('[W-7] WinnerLedger reports an acknowledged viewer who does not qualify', () => {
    expect(setUp('no').claim(1, 'won')).toContain('without all the right answers');
    expect(setUp('maybe').claim(1, 'won')).toBeNull();
  });

  test('[W-8] WinnerLedger reports a refused viewer who qualifies', () => {
    expect(setUp('yes').claim(1, 'not-qualified')).toContain('with all the right answers');
    expect(setUp('maybe').claim(1, 'not-qualified')).toBeNull();
    expect(setUp('no').claim(1, 'not-qualified')).toBeNull();
  });

  test('[W-4] WinnerLedger reports a 409 while the round is open', () => {
    expect(setUp().claim(1, 'no-round')).toContain('while the round is open');
    expect(setUp().claim(1, 'no-round', OVER_MS)).toBeNull();
  });

  test('[I-4] WinnerLedger accepts counts from the acknowledged reports up to those and the unknown ones', () => {
    const outcomes = fc.array(fc.constantFrom<WinnerReportOutcome>('won', 'no-round', 'unknown'));
    fc.assert(
      fc.property(outcomes, fc.integer({ min: -3, max: 3 }), (claims, deviation) => {
        const { ledger, round, claim } = setUp();
        for (const [viewer, outcome] of claims.entries()) claim(viewer, outcome, OVER_MS);
        const won = claims.filter((outcome) => outcome === 'won').length;
        const unknown = claims.filter((outcome) => outcome === 'unknown').length;
        const mismatch = ledger.check(round, won + deviation);
        expect(mismatch === null).toBe(deviation >= 0 && deviation <= unknown);
      }),
    );
  });

  test('[R-15] WinnerLedger counts a report without a response as possible, also after a later 409', () => {
    const { ledger, round, claim } = setUp();
    claim(1, 'unknown');
    claim(1, 'no-round', OVER_MS);
    claim(2, 'no-round', OVER_MS);
    const mismatches = [0, 1, 2].map((count) => ledger.check(round, count));
    expect(mismatches).toEqual([null, null, expect.stringContaining('0 to 1 were acknowledged')]);
  });

  test('[W-10] WinnerLedger counts a winner who reports twice once', () => {
    const { ledger, round, claim } = setUp();
    claim(1, 'won');
    claim(1, 'won');
    expect(ledger.check(round, 1)).toBeNull();
    expect(ledger.check(round, 2)).not.toBeNull();
  });

  test('[W-7] WinnerLedger allows winners from outside with the right answers to every quiz', () => {
    const check = (othersRight: number, count: number, others: number) => {
      const { ledger, round, claim } = setUp('yes', othersRight);
      claim(1, 'won');
      return ledger.check(round, count, others);
    };
    expect(check(2, 3, 5)).toBeNull();
    expect(check(2, 4, 5)).toContain(
      'counts 4, but 1 were acknowledged, with at most 2 from outside',
    );
    expect(check(2, 3, 1)).toContain('at most 1 from outside');
    expect(check(0, 2, 5)).toBe('winners round 1 counts 2, but 1 were acknowledged');
    expect(check(2, 0, 5)).toContain('counts 0');
  });

  test('[W-5] WinnerLedger requires the count four intervals after its request', () => {
    const { ledger, round } = setUp();
    expect(ledger.checkDelay(round, INTERVAL + 4, true)).toBeNull();
    expect(ledger.checkDelay(round, INTERVAL + 3, false)).not.toBeNull();
    expect(ledger.checkDelay(round, INTERVAL + 5, true)).not.toBeNull();
    expect(ledger.checkDelay(round, INTERVAL + 5, false)).toBeNull();
  });
});
