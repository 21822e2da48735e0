import { expect, test } from 'bun:test';
import {
  type Outage,
  type OutageOptions,
  simulateOutage,
} from '../../support/sdk/virtual-time/simulation.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const VIEWERS = 60;
const SEED = 7;
/** Requests of the crowd in any second, as a multiple of the steady rate. */
const PEAK_AFTER = 2;
/** While nobody answers: a first try again comes soon, which is what a short outage needs. */
const PEAK_DURING = 2.5;
/** Requests in any tenth of a second: who comes by chance in it, and not all of them. */
const BURST = 5;

const OUTAGES: Readonly<Record<string, Outage>> = {
  'refuses connections': (service, cutStreams) => {
    cutStreams();
    return service.fail({ result: 'cut' });
  },
  'is silent': (service) => service.fail({ result: 'silence' }),
  'says 503': (service, cutStreams) => {
    cutStreams();
    return service.fail({ result: 503 });
  },
  'says 503 with a wish': (service, cutStreams) => {
    cutStreams();
    return service.fail({ result: 503, retryAfterSeconds: 2 });
  },
  'drains, and then says 503': (service) => {
    service.endStreams();
    return service.fail({ result: 503 });
  },
  'says 503, and comes back with other keys for tokens': (service, cutStreams) => {
    cutStreams();
    service.rejectTokens();
    return service.fail({ result: 503 });
  },
};

const run = (options: Omit<OutageOptions, 'viewers'>) =>
  simulateOutage({ ...options, viewers: VIEWERS }, seededRandom(SEED));

const cases = Object.keys(OUTAGES).flatMap((name) =>
  ([3_000, 20_000] as const).flatMap((outageMs) =>
    (['auto', 'poll'] as const).map((transport) => ({ name, outageMs, transport })),
  ),
);

test.each(cases)(
  'after a service that $name for $outageMs ms no storm comes: $transport',
  ({ name, ...given }) => {
    const rates = run({ ...given, outage: OUTAGES[name] as Outage });
    expect(rates.after / rates.steady).toBeLessThanOrEqual(PEAK_AFTER);
    expect(rates.during / rates.steady).toBeLessThanOrEqual(PEAK_DURING);
    expect(rates.live).toBe(VIEWERS);
  },
);

/** They go on elsewhere at once. */
const NODES: Readonly<Record<string, Outage>> = {
  'is gone': (_, cutStreams) => {
    cutStreams();
    return () => {};
  },
  'stops, and has ended them': (service) => {
    service.endStreams();
    return () => {};
  },
};

test.each(Object.keys(NODES))(
  'event streams of a node that %s are gone on with, and not all at once',
  (name) => {
    const outage = NODES[name] as Outage;
    const rates = run({ outage, outageMs: 0, transport: 'auto' });
    expect(rates.after / rates.steady).toBeLessThanOrEqual(PEAK_AFTER);
    expect(rates.burst / rates.steady).toBeLessThanOrEqual(BURST);
    expect(rates.live).toBe(VIEWERS);
  },
);
