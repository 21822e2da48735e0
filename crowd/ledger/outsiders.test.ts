import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Outsiders } from './outsiders.ts';

const RARELY_MS = 240_000;

/** A fake service that assigns seats from 0, and a check that needs a number of outsiders. */
function setUp() {
  const others = new Outsiders();
  const noted: (string | null)[] = [];
  let next = 0;
  const give = () => {
    const seat = next++;
    return { seat, sub: `viewer ${seat}` };
  };
  return {
    others,
    noted,
    give,
    joinOurs: () => others.addCrowdToken(give()),
    probe: () => {
      others.probeSent(0);
      others.probeReturned([give()]);
    },
    needs: (least: number) => {
      others.check({
        mismatchWith: (most) => (most >= least ? null : `${most} of ${least}`),
        record: (mismatch) => noted.push(mismatch),
      });
    },
  };
}

describe('Outsiders', () => {
  test('[T-8] counts seats below a probe that are not of the crowd', () => {
    const events = fc.array(fc.constantFrom('ours', 'other', 'probe'), { maxLength: 60 });
    fc.assert(
      fc.property(events, (came) => {
        const { others, give, joinOurs, probe } = setUp();
        for (const who of came) {
          if (who === 'ours') joinOurs();
          else if (who === 'other') give();
          else probe();
        }
        probe();
        others.settle();
        expect(others.known()).toBe(came.filter((who) => who === 'other').length);
      }),
    );
  });

  test('excludes viewers of the crowd whose tokens arrive after the probe', () => {
    const { others, give, joinOurs, probe, needs, noted } = setUp();
    joinOurs();
    const late = give();
    needs(1);
    probe();
    others.addCrowdToken(late);
    others.settle();
    expect(noted).toEqual(['0 of 1']);
  });

  test('runs a check without outsiders at once', () => {
    const { others, needs, noted } = setUp();
    needs(0);
    expect(noted).toEqual([null]);
    expect(others.needsProbe(0)).toBe(false);
  });

  test('runs a check at once if no number of outsiders explains its mismatch', () => {
    const { others, noted } = setUp();
    others.check({ mismatchWith: () => 'too few', record: (mismatch) => noted.push(mismatch) });
    expect(noted).toEqual(['too few']);
    expect(others.hasPendingChecks()).toBe(false);
  });

  test('delays a check that needs more outsiders until a later probe', () => {
    const { others, give, probe, needs, noted } = setUp();
    probe();
    give();
    needs(1);
    others.settle();
    expect(noted).toEqual([]);
    expect(others.needsProbe(0)).toBe(true);
    probe();
    expect(others.needsProbe(0)).toBe(false);
    others.settle();
    expect(noted).toEqual([null]);
  });

  test('runs a check that waits for the next probe early if this one explains it', () => {
    const { others, give, probe, needs, noted } = setUp();
    give();
    probe();
    needs(1);
    needs(2);
    others.settle();
    expect(noted).toEqual([null]);
    probe();
    others.settle();
    expect(noted).toEqual([null, '1 of 2']);
  });

  test('delays checks to the next probe when a probe fails', () => {
    const { others, give, probe, needs, noted } = setUp();
    give();
    needs(1);
    others.probeSent(0);
    others.probeFailed();
    expect(noted).toEqual([]);
    expect(others.needsProbe(0)).toBe(true);
    probe();
    others.settle();
    expect(noted).toEqual([null]);
  });

  test('reports mismatches in the end if every probe fails', () => {
    const { others, needs, noted } = setUp();
    needs(1);
    others.probeSent(0);
    others.probeFailed();
    others.settle();
    expect(noted).toEqual(['0 of 1']);
  });

  test('[N-16] probes regularly, so that the service keeps its seat lease', () => {
    const { others } = setUp();
    expect(others.needsProbe(RARELY_MS - 1)).toBe(false);
    expect(others.needsProbe(RARELY_MS)).toBe(true);
    others.probeSent(RARELY_MS);
    others.settle();
    expect(others.needsProbe(RARELY_MS + 1)).toBe(false);
    expect(others.needsProbe(2 * RARELY_MS)).toBe(true);
  });

  test('[C-5] counts each author of messages once', () => {
    const { others, joinOurs } = setUp();
    joinOurs();
    expect(['viewer 0', 'bob', 'bob', 'ann'].map((id) => others.addAuthor(id))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    expect(others.authorCount()).toBe(2);
  });
});
