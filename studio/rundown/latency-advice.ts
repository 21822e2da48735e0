/** Whether the latency allowance of a stream fits what its picture takes. */
export type LatencyAdvice =
  | { readonly kind: 'short' | 'long'; readonly behindMs: number; readonly betterMs: number }
  | { readonly kind: 'fits'; readonly behindMs: number };

/** Viewers on worse lines are this much further behind than this page, at least. */
const MARGIN_MS = 500;
const STEP_MS = 500;
/** So much more than is needed makes results wait for nobody. */
const LONG_MS = 3_000;
/** Of fewer looks than these nothing is said, and of more the last ones count. */
const LOOKS_LEAST = 5;
const LOOKS_MOST = 15;

/**
 * The looks with one more.
 * @param behindMs how far the picture is behind the camera; null: not known
 */
export function withLook(looks: readonly number[], behindMs: number | null): readonly number[] {
  return behindMs === null ? looks : [...looks, behindMs].slice(-LOOKS_MOST);
}

/**
 * @param looks how far the picture was behind the camera lately, ms
 * @returns null while too little is known
 */
export function latencyAdvice(
  looks: readonly number[],
  allowanceMs: number,
  allowanceMaxMs: number,
): LatencyAdvice | null {
  if (looks.length < LOOKS_LEAST) return null;
  const behindMs = looks.toSorted((a, b) => a - b)[Math.floor(looks.length / 2)] ?? 0;
  const betterMs = Math.ceil((behindMs + MARGIN_MS) / STEP_MS) * STEP_MS;
  // So late is no picture that somebody answers by: a clock is wrong, say.
  if (betterMs > allowanceMaxMs) return null;
  if (allowanceMs < behindMs) return { kind: 'short', behindMs, betterMs };
  if (allowanceMs > betterMs + LONG_MS) return { kind: 'long', behindMs, betterMs };
  return { kind: 'fits', behindMs };
}
