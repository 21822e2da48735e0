/** Length of an interval in ms. The feed is addressed by interval (SPEC F). */
export const INTERVAL_MS = 250;

/** The interval of a moment: `floor(unixMs / 250)`. */
export function intervalAt(unixMs: number): number {
  return Math.floor(unixMs / INTERVAL_MS);
}

const CANONICAL = /^(?:0|[1-9][0-9]{0,15})$/;

/** The interval that a text names in its canonical form (SPEC F-6); NaN when it names none. */
export function parseInterval(text: string): number {
  const interval = CANONICAL.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(interval) ? interval : Number.NaN;
}

/** The start of an interval, Unix ms. It ends where the next one starts. */
export function intervalStartMs(interval: number): number {
  return interval * INTERVAL_MS;
}
