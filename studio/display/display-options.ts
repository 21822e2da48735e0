export interface DisplayOptions {
  readonly streamId: string;
  /** Presenter key, from `#key=pk_…`; null: the signed-in session authorizes. */
  readonly key: string | null;
  /** `?background=transparent`: an overlay over a video, as in OBS. */
  readonly isOverlay: boolean;
  /** `?bars=live`: answer counts are visible before the results. */
  readonly hasLiveBars: boolean;
  /**
   * `?hold=20`: time for which results, winners and the end of the show stay, ms; null: until the
   * display shows something else.
   */
  readonly holdMs: number | null;
}

const HOLD_MAX_S = 3_600;
/** Over a video, results must not stay in the way. */
const OVERLAY_HOLD_S = 20;

/** @param href such as `https://live.example/studio/present/7d2c…?background=transparent#key=pk_…` */
export function parseDisplayOptions(href: string): DisplayOptions {
  const { pathname, searchParams, hash } = new URL(href);
  const isOverlay = searchParams.get('background') === 'transparent';
  return {
    streamId: pathname.split('/').filter(Boolean).at(-1) ?? '',
    key: new URLSearchParams(hash.slice(1)).get('key'),
    isOverlay,
    hasLiveBars: searchParams.get('bars') === 'live',
    holdMs: holdOf(searchParams.get('hold'), isOverlay),
  };
}

function holdOf(text: string | null, isOverlay: boolean): number | null {
  const seconds = text === null || text === '' ? Number.NaN : Number(text);
  if (seconds >= 0) return Math.min(seconds, HOLD_MAX_S) * 1_000;
  return isOverlay ? OVERLAY_HOLD_S * 1_000 : null;
}

/** How a display looks. */
export interface DisplayAppearance {
  /** An overlay over a video, as in OBS. */
  readonly isOverlay: boolean;
  /** Answer counts are visible before the results. */
  readonly hasLiveBars: boolean;
}

/**
 * The URL of a display with this appearance.
 * @param url as the service returned it, with its key
 */
export function displayAddress(url: string, { isOverlay, hasLiveBars }: DisplayAppearance): string {
  const address = new URL(url);
  if (isOverlay) address.searchParams.set('background', 'transparent');
  if (hasLiveBars) address.searchParams.set('bars', 'live');
  return address.href;
}
