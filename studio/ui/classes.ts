/** Joins the class names that apply. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

/** Focus ring for keyboard users. */
export const FOCUS_RING =
  'outline-none focus-visible:outline-3 focus-visible:outline-offset-2 focus-visible:outline-focus';

/**
 * The words of viewers, on a block: they break anywhere, and marks that stack up on a letter do not
 * cover what is above it.
 */
export const VIEWER_WORDS = 'wrap-anywhere overflow-clip';

/** Text input. */
export const FIELD =
  'w-full min-h-11 rounded-lg border border-edge bg-card px-3 py-2 text-text placeholder:text-quiet ' +
  'outline-none focus:outline-3 focus:outline-offset-1 focus:outline-focus ' +
  'invalid:border-bad disabled:opacity-60';
