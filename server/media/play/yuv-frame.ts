import { GLYPH_ADVANCE, GLYPH_COLUMNS, glyphOf } from './glyphs.ts';

/** A BT.709 color, limited range. */
export interface YuvColor {
  readonly y: number;
  readonly u: number;
  readonly v: number;
}

/** Converts red, green and blue, 0 to 255 each. */
export function yuvFromRgb(red: number, green: number, blue: number): YuvColor {
  const luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return {
    y: Math.round(16 + (219 / 255) * luma),
    u: Math.round(128 + ((224 / 255) * (blue - luma)) / 1.8556),
    v: Math.round(128 + ((224 / 255) * (red - luma)) / 1.5748),
  };
}

/** A `yuv420p` frame to draw on: a luma plane and two chroma planes of half the size. */
export class YuvFrame {
  /** The planes in the order Y, U, V. Drawing modifies them in place. */
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

  /** Fills a rectangle, which must lie inside the frame. */
  fill(x: number, y: number, width: number, height: number, color: YuvColor): void {
    for (let row = y; row < y + height; row++) {
      const start = row * this.width + x;
      this.bytes.fill(color.y, start, start + width);
    }
    const stride = this.width / 2;
    const chromaLeft = x >> 1;
    const chromaRight = (x + width + 1) >> 1;
    for (let row = y >> 1; row < (y + height + 1) >> 1; row++) {
      this.u.fill(color.u, row * stride + chromaLeft, row * stride + chromaRight);
      this.v.fill(color.v, row * stride + chromaLeft, row * stride + chromaRight);
    }
  }

  /** Draws a character. @param dot size of a dot in pixels */
  drawGlyph(letter: string, x: number, y: number, dot: number, color: YuvColor): void {
    const rows = glyphOf(letter) ?? [];
    for (const [row, bits] of rows.entries()) {
      for (let column = 0; column < GLYPH_COLUMNS; column++) {
        const isSet = (bits >> (GLYPH_COLUMNS - 1 - column)) & 1;
        if (isSet) this.fill(x + column * dot, y + row * dot, dot, dot, color);
      }
    }
  }

  /** Draws a text from left to right. It must fit into the frame. */
  drawText(text: string, x: number, y: number, dot: number, color: YuvColor): void {
    for (const [index, letter] of [...text].entries()) {
      this.drawGlyph(letter, x + index * GLYPH_ADVANCE * dot, y, dot, color);
    }
  }
}
