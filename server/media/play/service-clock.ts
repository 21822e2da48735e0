/** One look at the service's clock, between two looks at ours. */
export interface TimeSample {
  /** Our clock before the request and after the answer, ms. */
  readonly sentMs: number;
  readonly receivedMs: number;
  /** Whole Unix ms. */
  readonly serviceMs: number;
}

/**
 * Service time minus our clock, ms, by the sample with the least round trip: it is off by at most
 * half of that.
 */
export function offsetOf(samples: readonly TimeSample[]): number {
  const [best] = [...samples].sort((a, b) => roundTripOf(a) - roundTripOf(b));
  if (!best) throw new Error('there is no sample of the clock');
  // The service tells whole ms, rounded down.
  return best.serviceMs + 0.5 - (best.sentMs + best.receivedMs) / 2;
}

function roundTripOf({ sentMs, receivedMs }: TimeSample): number {
  return receivedMs - sentMs;
}

/** Service time as told by the service (SPEC K-2). */
export interface RemoteClock {
  /** Unix ms, with fractions. */
  nowMs(): number;
  /** Looks again. Does nothing when there is no answer. */
  refresh(): Promise<void>;
}

const SAMPLES = 8;
const ANSWER_MS = 5_000;

/** @throws Error with a line for the person who started it, when there is no such service */
export async function learnClock(origin: string): Promise<RemoteClock> {
  let offsetMs = offsetOf(await samplesOf(origin));
  return {
    nowMs: () => performance.now() + offsetMs,
    refresh: async () => {
      const samples = await samplesOf(origin).catch(() => null);
      if (samples) offsetMs = offsetOf(samples);
    },
  };
}

async function samplesOf(origin: string): Promise<TimeSample[]> {
  const samples: TimeSample[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const sentMs = performance.now();
    const serviceMs = await timeOf(origin);
    samples.push({ sentMs, receivedMs: performance.now(), serviceMs });
  }
  return samples;
}

async function timeOf(origin: string): Promise<number> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(`${origin}/api/v1/time`, { signal }).catch(() => null);
  if (!response) throw new Error(`there is no answer from ${origin} (--url); is it running?`);
  const body = (await response.json().catch(() => null)) as { now?: unknown } | null;
  if (!response.ok || typeof body?.now !== 'number') {
    throw new Error(`what answers at ${origin} (--url) is no Fourbeat`);
  }
  return body.now;
}
