import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ExternalViewers } from './external-viewers.ts';

const PROBE_INTERVAL_MS = 240_000;

/** A fake service that assigns seats from 0, and a check that needs a number of external viewers. */
function setUp() {
  const externalViewers = new ExternalViewers();
  const results: (string | null)[] = [];
  let nextSeat = 0;
  const issueSeat = () => {
    const seat = nextSeat++;
    return { seat, sub: `viewer ${seat}` };
  };
  return {
    externalViewers,
    results,
    issueSeat,
    joinCrowd: () => externalViewers.addCrowdToken(issueSeat()),
    probe: () => {
      externalViewers.probeSent(0);
      externalViewers.probeReturned([issueSeat()]);
    },
    needs: (required: number) => {
      externalViewers.check({
        mismatchWith: (allowed) => (allowed >= required ? null : `${allowed} of ${required}`),
        record: (mismatch) => results.push(mismatch),
      });
    },
  };
}

describe('ExternalViewers', () => {
  test('[T-8] ExternalViewers counts the seats below that of a probe that are not of the crowd', () => {
    const events = fc.array(fc.constantFrom('ours', 'other', 'probe'), { maxLength: 60 });
    fc.assert(
      fc.property(events, (arrivals) => {
        const { externalViewers, issueSeat, joinCrowd, probe } = setUp();
        for (const viewer of arrivals) {
          if (viewer === 'ours') joinCrowd();
          else if (viewer === 'other') issueSeat();
          else probe();
        }
        probe();
        externalViewers.settle();
        expect(externalViewers.count()).toBe(
          arrivals.filter((viewer) => viewer === 'other').length,
        );
      }),
    );
  });

  test('ExternalViewers excludes viewers of the crowd whose tokens arrive after the probe', () => {
    const { externalViewers, issueSeat, joinCrowd, probe, needs, results } = setUp();
    joinCrowd();
    const pendingToken = issueSeat();
    needs(1);
    probe();
    externalViewers.addCrowdToken(pendingToken);
    externalViewers.settle();
    expect(results).toEqual(['0 of 1']);
  });

  test('ExternalViewers runs a check at once if it passes without external viewers', () => {
    const { externalViewers, needs, results } = setUp();
    needs(0);
    expect(results).toEqual([null]);
    expect(externalViewers.needsProbe(0)).toBe(false);
  });

  test('ExternalViewers runs a check at once if no number of external viewers explains its mismatch', () => {
    const { externalViewers, results } = setUp();
    externalViewers.check({
      mismatchWith: () => 'too few',
      record: (mismatch) => results.push(mismatch),
    });
    expect(results).toEqual(['too few']);
    expect(externalViewers.hasPendingChecks()).toBe(false);
  });

  test('ExternalViewers delays a check that needs more external viewers until a later probe', () => {
    const { externalViewers, issueSeat, probe, needs, results } = setUp();
    probe();
    issueSeat();
    needs(1);
    externalViewers.settle();
    expect(results).toEqual([]);
    expect(externalViewers.needsProbe(0)).toBe(true);
    probe();
    expect(externalViewers.needsProbe(0)).toBe(false);
    externalViewers.settle();
    expect(results).toEqual([null]);
  });

  test('ExternalViewers runs a check that was added during a probe, if the probe explains its mismatch', () => {
    const { externalViewers, issueSeat, probe, needs, results } = setUp();
    issueSeat();
    probe();
    needs(1);
    needs(2);
    externalViewers.settle();
    expect(results).toEqual([null]);
    probe();
    externalViewers.settle();
    expect(results).toEqual([null, '1 of 2']);
  });

  test('ExternalViewers delays checks to the next probe when a probe fails', () => {
    const { externalViewers, issueSeat, probe, needs, results } = setUp();
    issueSeat();
    needs(1);
    externalViewers.probeSent(0);
    externalViewers.probeFailed();
    expect(results).toEqual([]);
    expect(externalViewers.needsProbe(0)).toBe(true);
    probe();
    externalViewers.settle();
    expect(results).toEqual([null]);
  });

  test('ExternalViewers reports a waiting mismatch when it settles without a successful probe', () => {
    const { externalViewers, needs, results } = setUp();
    needs(1);
    externalViewers.probeSent(0);
    externalViewers.probeFailed();
    externalViewers.settle();
    expect(results).toEqual(['0 of 1']);
  });

  test('[N-16] ExternalViewers needs a probe every four minutes, which keeps the seat lease', () => {
    const { externalViewers } = setUp();
    expect(externalViewers.needsProbe(PROBE_INTERVAL_MS - 1)).toBe(false);
    expect(externalViewers.needsProbe(PROBE_INTERVAL_MS)).toBe(true);
    externalViewers.probeSent(PROBE_INTERVAL_MS);
    externalViewers.settle();
    expect(externalViewers.needsProbe(PROBE_INTERVAL_MS + 1)).toBe(false);
    expect(externalViewers.needsProbe(2 * PROBE_INTERVAL_MS)).toBe(true);
  });

  test('[C-5] ExternalViewers counts each author of messages once', () => {
    const { externalViewers, joinCrowd } = setUp();
    joinCrowd();
    expect(['viewer 0', 'bob', 'bob', 'ann'].map((id) => externalViewers.addAuthor(id))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(externalViewers.authorCount()).toBe(2);
  });
});
