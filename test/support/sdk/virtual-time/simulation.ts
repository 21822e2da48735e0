import { type MockService, mockService } from '../../../../sdk/mock/mock-service.ts';
import { Scheduler } from '../../scheduler.ts';
import { maxInWindow } from './checks.ts';
import { NORMAL_VIEWER, SimulatedViewer } from './simulated-viewer.ts';

/** Starts an outage of the service. @returns a function that ends it */
export type Outage = (service: MockService, breakStreams: () => void) => () => void;

export interface OutageOptions {
  readonly viewers: number;
  readonly transport: 'auto' | 'poll';
  readonly outage: Outage;
  readonly outageMs: number;
}

/** Request rates of all viewers, per second. */
export interface OutageRates {
  /** Average before the outage. */
  readonly steady: number;
  /** Maximum during the outage. */
  readonly during: number;
  /** Maximum after the outage. */
  readonly after: number;
  /** Maximum in a tenth of a second since the start of the outage. */
  readonly burst: number;
  /** Number of viewers that are live in the end. */
  readonly live: number;
}

const START_MS = 1_760_000_000_000;
/** Viewers join one after another within this time. */
const JOINING_MS = 10_000;
const SETTLED_MS = 20_000;
const STEADY_MS = 30_000;
const AFTER_MS = 60_000;
const SECOND_MS = 1_000;
const TENTH_MS = 100;

/** Simulates viewers of one service that is unavailable for a while, for all at the same time. */
export function simulateOutage(options: OutageOptions, random: () => number): OutageRates {
  const scheduler = new Scheduler(START_MS);
  const service = mockService({ now: () => Math.floor(scheduler.nowMs), after: scheduler.after });
  const viewers: SimulatedViewer[] = [];
  for (let number = 0; number < options.viewers; number++) {
    scheduler.advance(JOINING_MS / options.viewers);
    const { transport } = options;
    const viewer = { ...NORMAL_VIEWER, viewerId: `viewer-${number}`, transport };
    viewers.push(new SimulatedViewer(scheduler, service, random, viewer));
  }
  scheduler.advance(SETTLED_MS);
  const steadyFromMs = scheduler.nowMs;
  scheduler.advance(STEADY_MS);
  const unavailableFromMs = scheduler.nowMs;
  const end = options.outage(service, () => {
    for (const { network } of viewers) network.breakStreams();
  });
  scheduler.advance(options.outageMs);
  const recoveredFromMs = scheduler.nowMs;
  end();
  scheduler.advance(AFTER_MS);
  const liveViewers = viewers.filter(({ viewer }) => viewer.state === 'live').length;
  for (const { viewer } of viewers) viewer.leave();
  const requests = viewers
    .flatMap(({ network }) => network.requests)
    .sort((a, b) => a.sentMs - b.sentMs);
  const requestsBetween = (fromMs: number, toMs: number) =>
    requests.filter(({ sentMs }) => fromMs <= sentMs && sentMs < toMs);
  return {
    steady: requestsBetween(steadyFromMs, unavailableFromMs).length / (STEADY_MS / 1_000),
    during: maxInWindow(SECOND_MS, requestsBetween(unavailableFromMs, recoveredFromMs)),
    after: maxInWindow(SECOND_MS, requestsBetween(recoveredFromMs, scheduler.nowMs)),
    burst:
      maxInWindow(TENTH_MS, requestsBetween(unavailableFromMs, scheduler.nowMs)) *
      (SECOND_MS / TENTH_MS),
    live: liveViewers,
  };
}
