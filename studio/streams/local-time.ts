/** A time as the value of an `<input type="datetime-local">`, in the time zone of the browser. */
export function localTimeText(unixMs: number | null): string {
  if (unixMs === null) return '';
  const offsetMs = new Date(unixMs).getTimezoneOffset() * 60_000;
  return new Date(unixMs - offsetMs).toISOString().slice(0, 16);
}

/** The time of such a value, Unix ms; null: empty or incomplete. */
export function localTimeOf(text: string): number | null {
  const unixMs = /^\d{4,}-\d\d-\d\dT\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(unixMs) && unixMs >= 0 ? unixMs : null;
}
