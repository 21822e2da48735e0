import { expect, test } from 'bun:test';
import { IS_FULL_RUN, rounds } from '../../support/full-run.ts';
import {
  type Outage,
  type OutageOptions,
  simulateOutage,
} from '../../support/sdk/virtual-time/simulation.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const VIEWERS = rounds(40, 60);
const SEED = 7;
/** Maximum requests per second after the outage, as a multiple of the steady rate. */
const PEAK_AFTER = 2;
/** The same during the outage: the first retry is soon, for short outages. */
const PEAK_DURING = 2.5;
/** Maximum request rate within a tenth of a second, as a multiple of the steady rate. */
const BURST = 5;

const OUTAGES: Readonly<Record<string, Outage>> = {
  'refuses connections': (service, breakStreams) => {
    breakStreams();
    return service.fail({ result: 'cut' });
  },
  'is silent': (service) => service.fail({ result: 'silence' }),
  'responds with 503': (service, breakStreams) => {
    breakStreams();
    return service.fail({ result: 503 });
  },
  'responds with 503 and Retry-After': (service, breakStreams) => {
    breakStreams();
    return service.fail({ result: 503, retryAfterSeconds: 2 });
  },
  'drains, and then responds with 503': (service) => {
    service.endStreams();
    return service.fail({ result: 503 });
  },
  'responds with 503, and recovers with new token keys': (service, breakStreams) => {
    breakStreams();
    service.rejectTokens();
    return service.fail({ result: 503 });
  },
};

const run = (options: Omit<OutageOptions, 'viewers'>) =>
  simulateOutage({ ...options, viewers: VIEWERS }, seededRandom(SEED));

/** Each outage with each duration and transport; in `npm test` one of these per outage. */
const cases = Object.keys(OUTAGES).flatMap((name, index) =>
  ([3_000, 20_000] as const)
    .flatMap((outageMs) =>
      (['auto', 'poll'] as const).map((transport) => ({ name, outageMs, transport })),
    )
    .filter((_, combination) => IS_FULL_RUN || combination === index % 4),
);

test.each(cases)(
  'request rates stay limited after a service that $name for $outageMs ms: $transport',
  ({ name, ...given }) => {
    const rates = run({ ...given, outage: OUTAGES[name] as Outage });
    expect(rates.after / rates.steady).toBeLessThanOrEqual(PEAK_AFTER);
    expect(rates.during / rates.steady).toBeLessThanOrEqual(PEAK_DURING);
    expect(rates.live).toBe(VIEWERS);
  },
);

/** Event streams can continue on another node at once. */
const NODES: Readonly<Record<string, Outage>> = {
  'is gone': (_, breakStreams) => {
    breakStreams();
    return () => {};
  },
  'shuts down and ended them': (service) => {
    service.endStreams();
    return () => {};
  },
};

test.each(Object.keys(NODES))(
  'event streams of a node that %s are continued, spread over time',
  (name) => {
    const outage = NODES[name] as Outage;
    const rates = run({ outage, outageMs: 0, transport: 'auto' });
    expect(rates.after / rates.steady).toBeLessThanOrEqual(PEAK_AFTER);
    expect(rates.burst / rates.steady).toBeLessThanOrEqual(BURST);
    expect(rates.live).toBe(VIEWERS);
  },
);
