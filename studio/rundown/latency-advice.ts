/** Whether the latency allowance of a stream fits the delay of its video. */
export type LatencyAdvice =
  | { readonly kind: 'short' | 'long'; readonly delayMs: number; readonly suggestedMs: number }
  | { readonly kind: 'fits'; readonly delayMs: number };

/** For viewers whose video is later than on this page. */
const MARGIN_MS = 500;
const STEP_MS = 500;
/** An allowance that exceeds the suggestion by more delays results without a benefit. */
const SURPLUS_MAX_MS = 3_000;
/** Samples needed for advice, and the number of latest samples that count. */
const SAMPLES_MIN = 5;
const SAMPLES_MAX = 15;

/** Adds a sample. @param delayMs delay of the video behind the camera; null: unknown */
export function addSample(samples: readonly number[], delayMs: number | null): readonly number[] {
  return delayMs === null ? samples : [...samples, delayMs].slice(-SAMPLES_MAX);
}

/**
 * Compares the delay with the allowance.
 * @param samples recent delays of the video behind the camera, ms
 * @returns null with too few samples, or when the delay exceeds every allowance
 */
export function latencyAdvice(
  samples: readonly number[],
  allowanceMs: number,
  allowanceMaxMs: number,
): LatencyAdvice | null {
  if (samples.length < SAMPLES_MIN) return null;
  const delayMs = samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
  const suggestedMs = Math.ceil((delayMs + MARGIN_MS) / STEP_MS) * STEP_MS;
  // A delay beyond every allowance means that a clock is wrong.
  if (suggestedMs > allowanceMaxMs) return null;
  if (allowanceMs < delayMs) return { kind: 'short', delayMs, suggestedMs };
  if (allowanceMs > suggestedMs + SURPLUS_MAX_MS) return { kind: 'long', delayMs, suggestedMs };
  return { kind: 'fits', delayMs };
}
