/** The slow mode as text. @param slowModeMs minimum time between messages of one viewer; 0: off */
export function slowModeLabel(slowModeMs: number): string {
  if (slowModeMs === 0) return 'Slow mode off';
  const seconds = slowModeMs / 1_000;
  return seconds % 60 === 0 ? `1 message per ${seconds / 60} min` : `1 message per ${seconds} s`;
}
