import { intervalAt } from '../../../protocol/interval.ts';
import {
  CODE_BITS,
  CODE_COLUMNS,
  CODE_ROWS,
  CODE_TOP,
  momentOf,
} from '../../../server/media/play/picture-code.ts';

/** Pixels of a picture, row by row, as a decoder or a canvas gives them. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Luma, one byte a pixel; or RGBA, four bytes a pixel. What follows the last row is not looked at. */
  readonly data: ArrayLike<number>;
  readonly format: 'luma' | 'rgba';
}

/** What a test picture says of itself. */
export interface PictureReading {
  /** Service time at which it was drawn, Unix ms. */
  readonly unixMs: number;
  /** The interval of that moment. */
  readonly interval: number;
}

// Less than this between the darkest and the lightest cell is no strip but noise.
const CONTRAST_LEAST = 60;
// Edges of a cell are blurred by scaling, so that only its middle counts.
const MIDDLE_SHARE = 0.5;

/**
 * Reads the strip of a test picture (SPEC M-45), at any size that it was scaled to as a whole.
 * Needs nothing of Node, so that a page can use it on a canvas.
 * @returns null when this is no test picture, or when it is too blurred to be sure
 */
export function readPicture(pixels: Pixels): PictureReading | null {
  const step = pixels.format === 'luma' ? 1 : 4;
  if (pixels.width < CODE_COLUMNS || pixels.height < 1) return null;
  if (pixels.data.length < pixels.width * pixels.height * step) return null;
  const cells = Array.from({ length: CODE_BITS }, (_, cell) => meanOf(pixels, cell));
  const darkest = Math.min(...cells);
  const lightest = Math.max(...cells);
  if (lightest - darkest < CONTRAST_LEAST) return null;
  const middle = (darkest + lightest) / 2;
  const unixMs = momentOf(cells.map((light) => (light > middle ? 1 : 0)));
  return unixMs === null ? null : { unixMs, interval: intervalAt(unixMs) };
}

/** How light the middle of a cell is, from 0 to 255. */
function meanOf({ width, height, data, format }: Pixels, cell: number): number {
  const [left, right] = middleOf((cell % CODE_COLUMNS) / CODE_COLUMNS, 1 / CODE_COLUMNS, width);
  const rowShare = (1 - CODE_TOP) / CODE_ROWS;
  const above = CODE_TOP + Math.floor(cell / CODE_COLUMNS) * rowShare;
  const [top, bottom] = middleOf(above, rowShare, height);
  // Cells have no colour: of red, green and blue any will do.
  const [step, offset] = format === 'luma' ? [1, 0] : [4, 1];
  let sum = 0;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) sum += data[(y * width + x) * step + offset] ?? 0;
  }
  return sum / ((bottom - top) * (right - left));
}

/** The pixels of the middle of a span; at least one. */
function middleOf(start: number, length: number, pixels: number): [from: number, to: number] {
  const from = Math.floor((start + (length * (1 - MIDDLE_SHARE)) / 2) * pixels);
  const to = Math.ceil((start + (length * (1 + MIDDLE_SHARE)) / 2) * pixels);
  const first = Math.min(from, pixels - 1);
  return [first, Math.min(pixels, Math.max(first + 1, to))];
}
