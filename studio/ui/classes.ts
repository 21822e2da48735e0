/** Class names that apply, in one string. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

/** The ring of what has the keyboard's focus. */
export const FOCUS_RING =
  'outline-none focus-visible:outline-3 focus-visible:outline-offset-2 focus-visible:outline-focus';

/** A field that is written in. */
export const FIELD =
  'w-full min-h-11 rounded-lg border border-edge bg-card px-3 py-2 text-text placeholder:text-quiet ' +
  'outline-none focus:outline-3 focus:outline-offset-1 focus:outline-focus ' +
  'invalid:border-bad disabled:opacity-60';
