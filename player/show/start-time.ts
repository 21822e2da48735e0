import { texts } from '../texts.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The time until the start, such as `2 days 3 h`, `1:02:05` or `04:09`; null: it is over. */
export function countdownText(remainingMs: number): string | null {
  if (remainingMs <= 0) return null;
  const days = Math.floor(remainingMs / DAY_MS);
  const hours = Math.floor((remainingMs % DAY_MS) / HOUR_MS);
  if (days > 0) return texts.lobby.daysAndHours(days, hours);
  // Rounded up, so that the countdown ends at the start.
  const seconds = Math.ceil(remainingMs / SECOND_MS);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map(twoDigits).join(':');
  return seconds >= 3_600 ? `${Math.floor(seconds / 3_600)}:${parts}` : parts;
}

/** When the show starts, in the viewer's language and time zone. */
export function startText(startsAtMs: number, nowMs: number, locale?: string): string {
  const isToday = new Date(startsAtMs).toDateString() === new Date(nowMs).toDateString();
  return new Intl.DateTimeFormat(locale, {
    ...(isToday ? {} : { weekday: 'long', day: 'numeric', month: 'long' }),
    hour: 'numeric',
    minute: '2-digit',
  }).format(startsAtMs);
}

const twoDigits = (value: number) => String(value).padStart(2, '0');
