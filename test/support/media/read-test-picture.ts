import { intervalAt } from '../../../protocol/interval.ts';
import {
  CODE_BITS,
  CODE_COLUMNS,
  CODE_ROWS,
  CODE_TOP,
  decodeTimeCode,
} from '../../../server/media/play/time-code.ts';

/** Pixels of a frame, row by row, from a decoder or a canvas. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Luma, one byte per pixel, or RGBA, four bytes per pixel. Further bytes are ignored. */
  readonly data: ArrayLike<number>;
  readonly format: 'luma' | 'rgba';
}

/** Content of a time code. */
export interface PictureReading {
  /** Service time of the frame, Unix ms. */
  readonly unixMs: number;
  /** The interval of that time. */
  readonly interval: number;
}

// Minimum contrast between the darkest and the lightest cell.
const MIN_CONTRAST = 60;
// Only the middle of a cell is read, since scaling blurs its edges.
const MIDDLE_SHARE = 0.5;

/**
 * Reads the time code of a test picture (SPEC M-45) at any scale. Uses no platform API, so that a page
 * can call it on a canvas.
 * @returns null when the frame has no valid time code
 */
export function readPicture(pixels: Pixels): PictureReading | null {
  const step = pixels.format === 'luma' ? 1 : 4;
  if (pixels.width < CODE_COLUMNS || pixels.height < 1) return null;
  if (pixels.data.length < pixels.width * pixels.height * step) return null;
  const cells = Array.from({ length: CODE_BITS }, (_, cell) => meanOf(pixels, cell));
  const darkest = Math.min(...cells);
  const lightest = Math.max(...cells);
  if (lightest - darkest < MIN_CONTRAST) return null;
  const middle = (darkest + lightest) / 2;
  const unixMs = decodeTimeCode(cells.map((brightness) => (brightness > middle ? 1 : 0)));
  return unixMs === null ? null : { unixMs, interval: intervalAt(unixMs) };
}

/** Mean brightness of the middle of a cell, from 0 to 255. */
function meanOf({ width, height, data, format }: Pixels, cell: number): number {
  const [left, right] = middleOf((cell % CODE_COLUMNS) / CODE_COLUMNS, 1 / CODE_COLUMNS, width);
  const rowShare = (1 - CODE_TOP) / CODE_ROWS;
  const above = CODE_TOP + Math.floor(cell / CODE_COLUMNS) * rowShare;
  const [top, bottom] = middleOf(above, rowShare, height);
  // Cells are gray, so that any of red, green and blue will do.
  const [step, offset] = format === 'luma' ? [1, 0] : [4, 1];
  let sum = 0;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) sum += data[(y * width + x) * step + offset] ?? 0;
  }
  return sum / ((bottom - top) * (right - left));
}

/** Pixel range of the middle of a span; at least one pixel. */
function middleOf(start: number, length: number, pixels: number): [from: number, to: number] {
  const from = Math.floor((start + (length * (1 - MIDDLE_SHARE)) / 2) * pixels);
  const to = Math.ceil((start + (length * (1 + MIDDLE_SHARE)) / 2) * pixels);
  const first = Math.min(from, pixels - 1);
  return [first, Math.min(pixels, Math.max(first + 1, to))];
}
