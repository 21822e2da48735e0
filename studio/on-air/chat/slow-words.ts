/** How slow a chat is, in words. @param slowModeMs between two lines of one viewer; 0: none */
export function slowWords(slowModeMs: number): string {
  if (slowModeMs === 0) return 'Slow mode off';
  const seconds = slowModeMs / 1_000;
  return seconds % 60 === 0 ? `1 line in ${seconds / 60} min` : `1 line in ${seconds} s`;
}
