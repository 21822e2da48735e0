import { runtime } from '../../platform/runtime.ts';
/** One reading of the service's clock, between two readings of the local clock. */
export interface TimeSample {
  /** Local clock before the request and after the response, ms. */
  readonly sentMs: number;
  readonly receivedMs: number;
  /** Whole Unix ms. */
  readonly serviceMs: number;
}

/**
 * Service time minus local clock, ms, from the sample with the shortest round trip. The error is at
 * most half of that round trip.
 */
export function clockOffsetMs(samples: readonly TimeSample[]): number {
  const [best] = [...samples].sort((a, b) => roundTripMs(a) - roundTripMs(b));
  if (!best) throw new Error('no clock sample');
  // The service reports whole ms, rounded down.
  return best.serviceMs + 0.5 - (best.sentMs + best.receivedMs) / 2;
}

function roundTripMs({ sentMs, receivedMs }: TimeSample): number {
  return receivedMs - sentMs;
}

/** Service time, estimated from the service's time endpoint (SPEC K-2). */
export interface ServiceClock {
  /** Unix ms, with fractions. */
  nowMs(): number;
  /** Measures the offset again; keeps the previous one when the request fails. */
  refresh(): Promise<void>;
}

const SAMPLE_COUNT = 8;
const REQUEST_TIMEOUT_MS = 5_000;

/** Measures the clock offset. @throws Error with a one-line message when no service responds */
export async function syncServiceClock(origin: string): Promise<ServiceClock> {
  let offsetMs = clockOffsetMs(await takeSamples(origin));
  return {
    nowMs: () => runtime.monotonicMs() + offsetMs,
    refresh: async () => {
      const samples = await takeSamples(origin).catch(() => null);
      if (samples) offsetMs = clockOffsetMs(samples);
    },
  };
}

async function takeSamples(origin: string): Promise<TimeSample[]> {
  const samples: TimeSample[] = [];
  for (let index = 0; index < SAMPLE_COUNT; index++) {
    const sentMs = runtime.monotonicMs();
    const serviceMs = await fetchServiceTime(origin);
    samples.push({ sentMs, receivedMs: runtime.monotonicMs(), serviceMs });
  }
  return samples;
}

async function fetchServiceTime(origin: string): Promise<number> {
  const signal = runtime.timeoutSignal(REQUEST_TIMEOUT_MS);
  const response = await fetch(`${origin}/api/v1/time`, { signal }).catch(() => null);
  if (!response) throw new Error(`no response from ${origin} (--url); is it running?`);
  const body = (await response.json().catch(() => null)) as { now?: unknown } | null;
  if (!response.ok || typeof body?.now !== 'number') {
    throw new Error(`the server at ${origin} (--url) is not a Fourbeat service`);
  }
  return body.now;
}
