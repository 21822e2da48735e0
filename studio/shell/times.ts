import { texts } from './texts.ts';

const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const WEEK_MS = 7 * 86_400_000;

/** A relative time such as "2 hours ago"; after a week, date and time. @param atMs Unix ms */
export function ago(atMs: number, nowMs: number): string {
  const passedMs = nowMs - atMs;
  if (passedMs > WEEK_MS) return DATE_TIME.format(atMs);
  for (const [unit, ms] of UNITS) {
    if (passedMs >= ms) return RELATIVE.format(-Math.floor(passedMs / ms), unit);
  }
  return texts.justNow;
}

/** Date and time. @param atMs Unix ms */
export function dateTimeOf(atMs: number): string {
  return DATE_TIME.format(atMs);
}

/** Time of day with seconds. @param atMs Unix ms */
export function timeOf(atMs: number): string {
  return TIME.format(atMs);
}
