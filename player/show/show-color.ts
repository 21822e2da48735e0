/** The accent of a show: its color, made readable on the page, and the color of text on it. */
export interface ShowColors {
  readonly '--accent': string;
  readonly '--accent-hover': string;
  readonly '--on-accent': string;
  readonly '--accent-soft': string;
}

// As in theme.css. Controls need a contrast of 3:1 to the page, text on them 4.5:1.
const PAGES: Readonly<Record<'light' | 'dark', Rgb>> = {
  light: [245, 244, 248],
  dark: [18, 16, 24],
};
// Some more, since accents are also on the soft accent.
const TEXT_CONTRAST = 5.6;
const SOFT_SHARE = 0.1;
const STEPS = 20;
type Rgb = readonly [red: number, green: number, blue: number];
const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];

/**
 * The show's color as the accent of the page: darker on a light page, lighter on a dark one, as far as
 * its contrast needs.
 * @param color such as `#2f6fed`
 */
export function showColors(color: string, scheme: 'light' | 'dark'): ShowColors {
  const start = rgbOf(color);
  const towards = scheme === 'light' ? BLACK : WHITE;
  let accent = start;
  for (let step = 1; step <= STEPS && contrast(accent, scheme) < TEXT_CONTRAST; step++)
    accent = mix(start, towards, step / STEPS);
  return {
    '--accent': cssOf(accent),
    '--accent-hover': cssOf(mix(accent, towards, 0.15)),
    '--on-accent': luminance(accent) > 0.18 ? '#000' : '#fff',
    '--accent-soft': cssOf(mix(PAGES[scheme], accent, SOFT_SHARE)),
  };
}

function contrast(color: Rgb, scheme: 'light' | 'dark'): number {
  const [low, high] = [luminance(color), luminance(PAGES[scheme])].sort((a, b) => a - b);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

/** Relative luminance (WCAG 2.2). */
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function rgbOf(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

const mix = (from: Rgb, to: Rgb, share: number) =>
  from.map((value, part) =>
    Math.round(value + ((to[part] ?? 0) - value) * share),
  ) as unknown as Rgb;

const cssOf = (color: Rgb) => `rgb(${color.join(' ')})`;
