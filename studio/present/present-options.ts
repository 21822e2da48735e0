/** What the address of the presenter view says. */
export interface PresentOptions {
  readonly streamId: string;
  /** `#key=pk_…`; null: whoever is signed in in this browser. */
  readonly key: string | null;
  /** `?background=transparent`: it lies over a picture, as in OBS. */
  readonly isOverlay: boolean;
  /** `?bars=live`: how viewers answer is shown before the results. */
  readonly hasLiveBars: boolean;
  /** `?hold=20`: results and winners go away after so long, ms; null: they stay. */
  readonly holdMs: number | null;
}

const HOLD_MAX_S = 3_600;
/** Over a picture, results that stay would be in the way. */
const OVERLAY_HOLD_S = 20;

/** @param href such as `https://live.example/studio/present/7d2c…?background=transparent#key=pk_…` */
export function presentOptionsOf(href: string): PresentOptions {
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
