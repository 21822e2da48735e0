import { expect, test } from 'bun:test';
import { seededRandom } from '../../test/seeded-random.ts';
import { type Outage, runCrowd } from './crowd.ts';

const VIEWERS = 60;
const SEED = 7;
/** Requests of the crowd in any second, as a multiple of the steady rate. */
const PEAK_AFTER = 2;
/** While nobody answers: a first try again comes soon, which is what a short outage needs. */
const PEAK_DURING = 2.5;

const OUTAGES: Readonly<Record<string, Outage>> = {
  'refuses connections': (service, cutStreams) => {
    cutStreams();
    return service.fail({ how: 'cut' });
  },
  'is silent': (service) => service.fail({ how: 'silence' }),
  'says 503': (service, cutStreams) => {
    cutStreams();
    return service.fail({ how: 503 });
  },
  'says 503 with a wish': (service, cutStreams) => {
    cutStreams();
    return service.fail({ how: 503, retryAfterS: 2 });
  },
  'drains, and then says 503': (service) => {
    service.endStreams();
    return service.fail({ how: 503 });
  },
  'ends all streams at once': (_, cutStreams) => {
    cutStreams();
    return () => {};
  },
};

const cases = Object.keys(OUTAGES).flatMap((name) =>
  ([3_000, 20_000] as const).flatMap((outageMs) => [
    { name, outageMs, transport: 'stream' as const },
    { name, outageMs, transport: 'poll' as const },
  ]),
);

test.each(cases)(
  'after a service that $name for $outageMs ms no storm comes: $transport',
  async (given) => {
    const outage = OUTAGES[given.name] as Outage;
    const rates = await runCrowd({ ...given, outage, viewers: VIEWERS }, seededRandom(SEED));
    expect(rates.after / rates.steady).toBeLessThanOrEqual(PEAK_AFTER);
    expect(rates.during / rates.steady).toBeLessThanOrEqual(PEAK_DURING);
    expect(rates.live).toBe(VIEWERS);
  },
);
