import { texts } from './texts.ts';

const { units } = texts;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** A duration: "1 h 4 min", "12 min 5 s", "40 s". */
export function durationLabel(ms: number): string {
  const seconds = Math.round(ms / SECOND_MS);
  const [h, min, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h > 0) return joined(units.hours(h), min > 0 && units.minutes(min));
  if (min > 0) return joined(units.minutes(min), s > 0 && units.seconds(s));
  return units.seconds(s);
}

const joined = (...parts: (string | false)[]) => parts.filter(Boolean).join(' ');

/** A position in a show, as players show it: "1:04:09", "4:09". */
export function positionLabel(ms: number): string {
  const positionMs = Math.max(0, ms);
  const digits = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const minutesAndSeconds = `${digits((positionMs % HOUR_MS) / MINUTE_MS)}:${digits((positionMs % MINUTE_MS) / SECOND_MS)}`;
  const hours = Math.floor(positionMs / HOUR_MS);
  return hours > 0 ? `${hours}:${minutesAndSeconds}` : minutesAndSeconds.replace(/^0/, '');
}

/** A short duration: "2.3 s", or "0.42 s" under a second. */
export function secondsLabel(ms: number): string {
  const isShort = Math.abs(ms) < SECOND_MS;
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: isShort ? 2 : 1 };
  return units.exactSeconds((ms / SECOND_MS).toLocaleString(undefined, digits));
}
