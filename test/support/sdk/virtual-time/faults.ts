import type { MockService } from '../../../../sdk/mock/mock-service.ts';
import type { SimulatedViewer } from './simulated-viewer.ts';
import type { NetworkConditions } from './virtual-network.ts';

/** Injects a fault. @returns a function that ends it */
type Fault = (context: {
  readonly simulated: SimulatedViewer;
  readonly service: MockService;
  readonly random: () => number;
  /** Duration of the fault, ms. */
  readonly durationMs: number;
}) => () => void;

const NO_CLEANUP = () => {};

/** Paths that may fail; chat requests have no effect on the checks. */
const PATHS = ['/time', '/token', '/view-counts/', '/events-streams/', '/quizzes/', '/streams/'];

const networkFault =
  (change: (random: () => number) => Partial<NetworkConditions>): Fault =>
  ({ simulated, random }) =>
    simulated.network.change(change(random));

/** The service responds with this status to some or all requests. */
const statusFault =
  (status: number): Fault =>
  ({ service, random }) => {
    const part = random() < 0.5 ? null : PATHS[Math.floor(random() * PATHS.length)];
    const retryAfter = random() < 0.5 ? undefined : Math.ceil(random() * 3);
    const retryAfterSeconds = status === 401 ? undefined : retryAfter;
    const matches = ({ path }: { path: string }) => !part || path.includes(part);
    return service.fail({ result: status, matches, retryAfterSeconds });
  };

export const FAULTS: Readonly<Record<string, Fault>> = {
  'the network is gone': networkFault(() => ({ link: 'refuses' })),
  'the network is silent': networkFault(() => ({ link: 'silent' })),
  'packets are lost': networkFault((random) => ({ loss: 0.05 + random() * 0.4 })),
  'the network is slow': networkFault((random) => ({ maxDelayMs: 200 + random() * 4_000 })),
  'a proxy buffers streams': networkFault(() => ({ isBuffering: true })),
  'streams break': ({ simulated }) => {
    simulated.network.breakStreams();
    return NO_CLEANUP;
  },
  'the service is silent': ({ service }) => service.fail({ result: 'silence' }),
  'the service is unavailable': statusFault(503),
  'the service is overloaded': statusFault(429),
  'tokens are rejected': statusFault(401),
  'all tokens are rejected once': ({ service }) => {
    service.rejectTokens();
    return NO_CLEANUP;
  },
  'another node takes over': ({ service, random }) => {
    service.breakStreams();
    return random() < 0.5 ? service.fail({ result: 'cut' }) : service.fail({ result: 503 });
  },
  'the machine sleeps': ({ simulated, random, durationMs }) => {
    // Not soon after a clock step, which can hide the sleep.
    if (simulated.machine.lastSetMs > simulated.scheduler.nowMs - 10_000) return NO_CLEANUP;
    // Long enough to be detected, and sometimes longer than what viewers catch up on.
    const ms = 2_000 + (random() < 0.3 ? durationMs * 3 : durationMs);
    simulated.machine.sleep(ms, random() < 0.5);
    if (random() < 0.7) simulated.network.breakStreams();
    return NO_CLEANUP;
  },
  'the clock is set': ({ simulated: { machine, scheduler }, random }) => {
    const ms = (random() - 0.5) * 10 ** (2 + random() * 6);
    // A clock step can hide a sleep. A request from before the sleep may take until 5 s after it; only
    // then a new sample detects the sleep.
    const lastWakeMs = machine.sleeps.at(-1)?.toMs ?? Number.NEGATIVE_INFINITY;
    if (lastWakeMs < scheduler.nowMs - 10_000) machine.stepSystemClock(ms);
    return NO_CLEANUP;
  },
  'the page is hidden': ({ simulated }) => {
    simulated.machine.setHidden(true);
    return () => simulated.machine.setHidden(false);
  },
};

/** Faults that do not delay the feed; sleeps are recorded by the machine. */
export const HARMLESS: ReadonlySet<string> = new Set([
  'the machine sleeps',
  'the clock is set',
  'the page is hidden',
]);
