import { texts } from './texts.ts';

/** The slow mode as text. @param slowModeMs minimum time between messages of one viewer; 0: off */
export function slowModeLabel(slowModeMs: number): string {
  if (slowModeMs === 0) return texts.settings.slowModeOff;
  const seconds = slowModeMs / 1_000;
  return seconds % 60 === 0
    ? texts.settings.perMinutes(seconds / 60)
    : texts.settings.perSeconds(seconds);
}
