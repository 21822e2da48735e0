/** Length of an interval in ms. Everything in the service is addressed by interval (SPEC F). */
export const INTERVAL_MS = 250;

/** The interval a moment belongs to: `floor(unixMs / 250)`. */
export function intervalAt(unixMs: number): number {
  return Math.floor(unixMs / INTERVAL_MS);
}

/** The first millisecond of an interval, in Unix ms; its end is the start of the next one. */
export function intervalStartMs(interval: number): number {
  return interval * INTERVAL_MS;
}
