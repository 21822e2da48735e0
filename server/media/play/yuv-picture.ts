import { GLYPH_ADVANCE, GLYPH_COLUMNS, glyphOf } from './glyphs.ts';

/** A colour as pictures carry it: BT.709, limited range. */
export interface YuvColor {
  readonly y: number;
  readonly u: number;
  readonly v: number;
}

/** A colour of a picture from red, green and blue, 0 to 255 each. */
export function yuvOf(red: number, green: number, blue: number): YuvColor {
  const luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return {
    y: Math.round(16 + (219 / 255) * luma),
    u: Math.round(128 + ((224 / 255) * (blue - luma)) / 1.8556),
    v: Math.round(128 + ((224 / 255) * (red - luma)) / 1.5748),
  };
}

/** A picture that can be painted on: planes of luma and, at half the size, of two chromas. */
export class YuvPicture {
  /** As `yuv420p` has it. Painting changes it. */
  readonly bytes: Uint8Array;
  private readonly u: Uint8Array;
  private readonly v: Uint8Array;

  /** Both sizes must be even. */
  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    const luma = width * height;
    this.bytes = new Uint8Array((luma * 3) / 2);
    this.u = this.bytes.subarray(luma, (luma * 5) / 4);
    this.v = this.bytes.subarray((luma * 5) / 4);
  }

  /** Paints a rectangle. It must lie inside. */
  fill(x: number, y: number, width: number, height: number, color: YuvColor): void {
    for (let row = y; row < y + height; row++) {
      const start = row * this.width + x;
      this.bytes.fill(color.y, start, start + width);
    }
    const stride = this.width / 2;
    const left = x >> 1;
    const right = (x + width + 1) >> 1;
    for (let row = y >> 1; row < (y + height + 1) >> 1; row++) {
      this.u.fill(color.u, row * stride + left, row * stride + right);
      this.v.fill(color.v, row * stride + left, row * stride + right);
    }
  }

  /** Paints the dots of a letter, each so many pixels wide and high; what is between stays. */
  letter(letter: string, x: number, y: number, dot: number, color: YuvColor): void {
    const rows = glyphOf(letter) ?? [];
    for (const [row, bits] of rows.entries()) {
      for (let column = 0; column < GLYPH_COLUMNS; column++) {
        const isSet = (bits >> (GLYPH_COLUMNS - 1 - column)) & 1;
        if (isSet) this.fill(x + column * dot, y + row * dot, dot, dot, color);
      }
    }
  }

  /** Paints a text from left to right. It must fit. */
  text(text: string, x: number, y: number, dot: number, color: YuvColor): void {
    for (const [place, letter] of [...text].entries()) {
      this.letter(letter, x + place * GLYPH_ADVANCE * dot, y, dot, color);
    }
  }
}
