import { describe, expect, test } from 'bun:test';
import { showColors } from './show-color.ts';

const COLORS = ['#ffffff', '#000000', '#ffff00', '#2f6fed', '#777777', '#ff0000', '#00ff88'];
const PAGES = { light: [245, 244, 248], dark: [18, 16, 24] } as const;

const rgbOf = (css: string) =>
  css === '#000'
    ? [0, 0, 0]
    : css === '#fff'
      ? [255, 255, 255]
      : (css.match(/\d+/g) ?? []).map(Number);

function luminance(rgb: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: readonly number[], other: readonly number[]): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

describe.each(['light', 'dark'] as const)('the color of a show on a %s page', (scheme) => {
  test.each(COLORS)('[S-18] %s is readable, and so is text on it', (color) => {
    const colors = showColors(color, scheme);
    const accent = rgbOf(colors['--accent']);
    expect(contrast(accent, PAGES[scheme])).toBeGreaterThanOrEqual(4.5);
    expect(contrast(accent, rgbOf(colors['--accent-soft']))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(accent, rgbOf(colors['--on-accent']))).toBeGreaterThanOrEqual(4.5);
  });
});

test('[S-18] a color with enough contrast stays as it is', () => {
  expect(showColors('#2447a8', 'light')['--accent']).toBe('rgb(36 71 168)');
});
