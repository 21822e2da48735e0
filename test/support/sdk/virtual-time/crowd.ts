import { type MockService, mockService } from '../../../../sdk/mock/mock-service.ts';
import { mostIn } from './checks.ts';
import { Scheduler } from './scheduler.ts';
import { SimulatedViewer } from './simulated-viewer.ts';

/** An outage of the whole service. @returns what ends it */
export type Outage = (service: MockService, cutStreams: () => void) => () => void;

export interface CrowdOptions {
  readonly viewers: number;
  readonly transport: 'auto' | 'poll';
  readonly outage: Outage;
  readonly outageMs: number;
}

/** Requests of a whole crowd, in any second of a time. */
export interface CrowdRates {
  /** On average, when all was well. */
  readonly steady: number;
  /** The most while the service was unavailable. */
  readonly during: number;
  /** The most from its end on. */
  readonly after: number;
  /** The most in any tenth of a second since it began, as a rate. */
  readonly burst: number;
  /** How many viewers were live in the end. */
  readonly live: number;
}

const START_MS = 1_760_000_000_000;
/** They come one after another. */
const COMING_MS = 10_000;
const SETTLED_MS = 20_000;
const STEADY_MS = 30_000;
const AFTER_MS = 60_000;
const SECOND_MS = 1_000;
const TENTH_MS = 100;

/** A crowd at one service that goes away for a while, and comes back for all at once. */
export function runCrowd(options: CrowdOptions, random: () => number): CrowdRates {
  const scheduler = new Scheduler(START_MS);
  const service = mockService({ now: () => Math.floor(scheduler.nowMs), after: scheduler.after });
  const guests: SimulatedViewer[] = [];
  for (let number = 0; number < options.viewers; number++) {
    scheduler.advance(COMING_MS / options.viewers);
    guests.push(guestOf(scheduler, service, random, options, number));
  }
  scheduler.advance(SETTLED_MS);
  const steadyFromMs = scheduler.nowMs;
  scheduler.advance(STEADY_MS);
  const unavailableFromMs = scheduler.nowMs;
  const end = options.outage(service, () => {
    for (const { network } of guests) network.cutStreams();
  });
  scheduler.advance(options.outageMs);
  const backFromMs = scheduler.nowMs;
  end();
  scheduler.advance(AFTER_MS);
  const live = guests.filter(({ viewer }) => viewer.state === 'live').length;
  for (const { viewer } of guests) viewer.leave();
  const requests = guests
    .flatMap(({ network }) => network.requests)
    .sort((a, b) => a.sentMs - b.sentMs);
  const between = (fromMs: number, toMs: number) =>
    requests.filter(({ sentMs }) => fromMs <= sentMs && sentMs < toMs);
  return {
    steady: between(steadyFromMs, unavailableFromMs).length / (STEADY_MS / 1_000),
    during: mostIn(SECOND_MS, between(unavailableFromMs, backFromMs)),
    after: mostIn(SECOND_MS, between(backFromMs, scheduler.nowMs)),
    burst: mostIn(TENTH_MS, between(unavailableFromMs, scheduler.nowMs)) * (SECOND_MS / TENTH_MS),
    live,
  };
}

function guestOf(
  scheduler: Scheduler,
  service: MockService,
  random: () => number,
  { transport }: CrowdOptions,
  number: number,
): SimulatedViewer {
  return new SimulatedViewer(scheduler, service, random, {
    viewerId: `viewer-${number}`,
    transport,
    canStream: true,
    catchUpMs: 60_000,
    hiddenMs: Number.POSITIVE_INFINITY,
    pace: 1,
    systemErrorMs: 0,
    lateMs: 0,
    latencyMs: null,
  });
}
