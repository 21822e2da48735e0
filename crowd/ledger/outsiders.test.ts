import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Outsiders } from './outsiders.ts';

const RARELY_MS = 240_000;

/** A fake service that assigns seats from 0, and a check that needs a number of outsiders. */
function setUp() {
  const outsiders = new Outsiders();
  const results: (string | null)[] = [];
  let next = 0;
  const issueSeat = () => {
    const seat = next++;
    return { seat, sub: `viewer ${seat}` };
  };
  return {
    outsiders,
    results,
    issueSeat,
    joinCrowd: () => outsiders.addCrowdToken(issueSeat()),
    probe: () => {
      outsiders.probeSent(0);
      outsiders.probeReturned([issueSeat()]);
    },
    needs: (required: number) => {
      outsiders.check({
        mismatchWith: (allowed) => (allowed >= required ? null : `${allowed} of ${required}`),
        record: (mismatch) => results.push(mismatch),
      });
    },
  };
}

describe('Outsiders', () => {
  test('[T-8] Outsiders counts seats below a probe that are not of the crowd', () => {
    const events = fc.array(fc.constantFrom('ours', 'other', 'probe'), { maxLength: 60 });
    fc.assert(
      fc.property(events, (arrivals) => {
        const { outsiders, issueSeat, joinCrowd, probe } = setUp();
        for (const viewer of arrivals) {
          if (viewer === 'ours') joinCrowd();
          else if (viewer === 'other') issueSeat();
          else probe();
        }
        probe();
        outsiders.settle();
        expect(outsiders.count()).toBe(arrivals.filter((viewer) => viewer === 'other').length);
      }),
    );
  });

  test('Outsiders excludes viewers of the crowd whose tokens arrive after the probe', () => {
    const { outsiders, issueSeat, joinCrowd, probe, needs, results } = setUp();
    joinCrowd();
    const late = issueSeat();
    needs(1);
    probe();
    outsiders.addCrowdToken(late);
    outsiders.settle();
    expect(results).toEqual(['0 of 1']);
  });

  test('Outsiders runs a check without outsiders at once', () => {
    const { outsiders, needs, results } = setUp();
    needs(0);
    expect(results).toEqual([null]);
    expect(outsiders.needsProbe(0)).toBe(false);
  });

  test('Outsiders runs a check at once if no number of outsiders explains its mismatch', () => {
    const { outsiders, results } = setUp();
    outsiders.check({
      mismatchWith: () => 'too few',
      record: (mismatch) => results.push(mismatch),
    });
    expect(results).toEqual(['too few']);
    expect(outsiders.hasPendingChecks()).toBe(false);
  });

  test('Outsiders delays a check that needs more outsiders until a later probe', () => {
    const { outsiders, issueSeat, probe, needs, results } = setUp();
    probe();
    issueSeat();
    needs(1);
    outsiders.settle();
    expect(results).toEqual([]);
    expect(outsiders.needsProbe(0)).toBe(true);
    probe();
    expect(outsiders.needsProbe(0)).toBe(false);
    outsiders.settle();
    expect(results).toEqual([null]);
  });

  test('Outsiders runs a check that waits for the next probe early if this one explains it', () => {
    const { outsiders, issueSeat, probe, needs, results } = setUp();
    issueSeat();
    probe();
    needs(1);
    needs(2);
    outsiders.settle();
    expect(results).toEqual([null]);
    probe();
    outsiders.settle();
    expect(results).toEqual([null, '1 of 2']);
  });

  test('Outsiders delays checks to the next probe when a probe fails', () => {
    const { outsiders, issueSeat, probe, needs, results } = setUp();
    issueSeat();
    needs(1);
    outsiders.probeSent(0);
    outsiders.probeFailed();
    expect(results).toEqual([]);
    expect(outsiders.needsProbe(0)).toBe(true);
    probe();
    outsiders.settle();
    expect(results).toEqual([null]);
  });

  test('Outsiders reports mismatches in the end if every probe fails', () => {
    const { outsiders, needs, results } = setUp();
    needs(1);
    outsiders.probeSent(0);
    outsiders.probeFailed();
    outsiders.settle();
    expect(results).toEqual(['0 of 1']);
  });

  test('[N-16] probes regularly, so that the service keeps its seat lease', () => {
    const { outsiders } = setUp();
    expect(outsiders.needsProbe(RARELY_MS - 1)).toBe(false);
    expect(outsiders.needsProbe(RARELY_MS)).toBe(true);
    outsiders.probeSent(RARELY_MS);
    outsiders.settle();
    expect(outsiders.needsProbe(RARELY_MS + 1)).toBe(false);
    expect(outsiders.needsProbe(2 * RARELY_MS)).toBe(true);
  });

  test('[C-5] Outsiders counts each author of messages once', () => {
    const { outsiders, joinCrowd } = setUp();
    joinCrowd();
    expect(['viewer 0', 'bob', 'bob', 'ann'].map((id) => outsiders.addAuthor(id))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(outsiders.authorCount()).toBe(2);
  });
});
