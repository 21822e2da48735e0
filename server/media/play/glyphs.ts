/** Bitmap of a character: seven rows from the top, five bits each, most significant bit at the left. */
export type Glyph = readonly number[];

/** Size of a character in dots. */
export const GLYPH_COLUMNS = 5;
export const GLYPH_ROWS = 7;
/** Horizontal distance between characters, in dots. */
export const GLYPH_ADVANCE = GLYPH_COLUMNS + 1;

// Two hexadecimal digits per row.
const GLYPH_ROWS_HEX: Readonly<Record<string, string>> = {
  '0': '0e11111111110e',
  '1': '040c040404040e',
  '2': '0e11010204081f',
  '3': '1f02040201110e',
  '4': '02060a121f0202',
  '5': '1f101e0101110e',
  '6': '0608101e11110e',
  '7': '1f010204080808',
  '8': '0e11110e11110e',
  '9': '0e11110f01020c',
  A: '0e1111111f1111',
  B: '1e11111e11111e',
  C: '0e11101010110e',
  D: '1c12111111121c',
  E: '1f10101e10101f',
  F: '1f10101e101010',
  G: '0e11101711110f',
  H: '1111111f111111',
  I: '0e04040404040e',
  J: '0702020202120c',
  K: '11121418141211',
  L: '1010101010101f',
  M: '111b1515111111',
  N: '11111915131111',
  O: '0e11111111110e',
  P: '1e11111e101010',
  Q: '0e11111115120d',
  R: '1e11111e141211',
  S: '0f10100e01011e',
  T: '1f040404040404',
  U: '1111111111110e',
  V: '11111111110a04',
  W: '1111111515150a',
  X: '11110a040a1111',
  Y: '1111110a040404',
  Z: '1f01020408101f',
  ' ': '00000000000000',
  ':': '000c0c000c0c00',
  '.': '00000000000c0c',
  ',': '000000000c0408',
  '-': '0000001f000000',
  '+': '0004041f040400',
  '/': '00010204081000',
  '!': '04040404040004',
  '?': '0e110102040004',
  "'": '04040800000000',
  '&': '0c12140815120d',
  '#': '0a0a1f0a1f0a0a',
  '(': '02040808080402',
  ')': '08040202020408',
};

const GLYPHS: ReadonlyMap<string, Glyph> = new Map(
  Object.entries(GLYPH_ROWS_HEX).map(([letter, dots]) => [
    letter,
    Array.from({ length: GLYPH_ROWS }, (_, row) =>
      Number.parseInt(dots.slice(2 * row, 2 * row + 2), 16),
    ),
  ]),
);

/** The bitmap of a character; undefined when the font lacks it. */
export function glyphOf(letter: string): Glyph | undefined {
  return GLYPHS.get(letter);
}

/** Converts a text to the font's characters, without accents; null when one is missing. */
export function toDrawableText(text: string): string | null {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase().trim();
  return [...plain].every((letter) => GLYPHS.has(letter)) ? plain : null;
}
