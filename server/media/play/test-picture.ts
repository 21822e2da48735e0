import { intervalAt } from '../../../protocol/interval.ts';
import { GLYPH_ADVANCE, GLYPH_COLUMNS, GLYPH_ROWS, toDrawableText } from './glyphs.ts';
import { CODE_BITS, CODE_COLUMNS, CODE_ROWS, CODE_TOP, encodeTimeCode } from './time-code.ts';
import { type YuvColor, YuvFrame, yuvFromRgb } from './yuv-frame.ts';

export interface TestPictureOptions {
  /** Even, from 160 to 3840. */
  readonly width: number;
  /** Even, from 90 to 2160. */
  readonly height: number;
  /** Title of the stream; omitted when the font lacks one of its characters. */
  readonly title: string;
}

/** A part of the picture that is repainted when its value changes. */
interface Region {
  lastValue: string | number | undefined;
  readonly valueAt: (unixMs: number) => string | number;
  readonly paint: (value: string | number) => void;
}

const BACKGROUND = yuvFromRgb(17, 19, 40);
const INACTIVE_BAR_COLOR = yuvFromRgb(45, 50, 92);
const LABEL_COLOR = yuvFromRgb(139, 147, 199);
const CLOCK_COLOR = yuvFromRgb(247, 245, 240);
const INTERVAL_COLOR = yuvFromRgb(255, 197, 84);
const ACCENT_COLOR = yuvFromRgb(94, 222, 196);
const BLACK = yuvFromRgb(0, 0, 0);
const WHITE = yuvFromRgb(255, 255, 255);

// Layouts of the texts: fixed width, so that digits do not move.
const CLOCK_PATTERN = 'HH:MM:SS.mmm';
const INTERVAL_PATTERN = '7 000 000 000';
// Width of a space between groups of digits, in dots.
const GAP_ADVANCE = 3;
const INTERVALS_PER_SECOND = 4;
const MARGIN_SHARE = 0.055;

// Vertical positions and heights, as shares of the height above the time code.
const TITLE_TOP = 0.067;
const CLOCK_TOP = 0.193;
const INTERVAL_TOP = 0.527;
const BARS_TOP = 0.86;
const BARS_HEIGHT = 0.06;
const MAX_DIGIT_HEIGHT = 0.2;

/**
 * The test picture (SPEC M-45): service time and interval in large digits, one bar for each of the
 * four intervals of a second with a mark that runs across them, and a machine-readable time code
 * (`time-code.ts`). A frame depends on its time alone; only changed regions are repainted.
 */
export class TestPicture {
  private readonly frame: YuvFrame;
  private readonly regions: Region[] = [];
  private readonly margin: number;
  private readonly contentWidth: number;
  private readonly contentHeight: number;

  constructor({ width, height, title }: TestPictureOptions) {
    this.frame = new YuvFrame(width, height);
    this.margin = floorToEven(width * MARGIN_SHARE);
    this.contentWidth = width - 2 * this.margin;
    this.contentHeight = Math.round(height * CODE_TOP);
    this.frame.fill(0, 0, width, height, BACKGROUND);
    this.paintTitle(title);
    this.addText(CLOCK_TOP, 'UTC', CLOCK_PATTERN, CLOCK_COLOR, formatClock);
    this.addText(INTERVAL_TOP, 'INTERVAL', INTERVAL_PATTERN, INTERVAL_COLOR, formatInterval);
    this.addIntervalBars();
    this.addTimeCode();
  }

  /** @returns the `yuv420p` frame of a time; the next call overwrites it */
  draw(unixMs: number): Uint8Array {
    for (const region of this.regions) {
      const value = region.valueAt(unixMs);
      if (value === region.lastValue) continue;
      region.lastValue = value;
      region.paint(value);
    }
    return this.frame.bytes;
  }

  private add(valueAt: Region['valueAt'], paint: Region['paint']): void {
    this.regions.push({ lastValue: undefined, valueAt, paint });
  }

  private paintTitle(title: string): void {
    const dot = this.labelDotSize();
    const y = Math.round(this.contentHeight * TITLE_TOP);
    const name = 'FOURBEAT';
    this.frame.drawText(name, this.margin, y, dot, ACCENT_COLOR);
    const maxChars = Math.floor(this.contentWidth / (dot * GLYPH_ADVANCE)) - name.length - 2;
    const shownTitle = (toDrawableText(title) ?? '').slice(0, Math.max(0, maxChars)).trim();
    const width = shownTitle.length * GLYPH_ADVANCE * dot - dot;
    this.frame.drawText(shownTitle, this.margin + this.contentWidth - width, y, dot, LABEL_COLOR);
  }

  /** Adds a label and below it, as large as fits, a text in the layout of `pattern`. */
  private addText(
    topShare: number,
    label: string,
    pattern: string,
    color: YuvColor,
    format: (unixMs: number) => string,
  ): void {
    const { frame, margin } = this;
    const labelDot = this.labelDotSize();
    const y = Math.round(this.contentHeight * topShare);
    frame.drawText(label, margin, y, labelDot, LABEL_COLOR);
    const top = y + (GLYPH_ROWS + 3) * labelDot;
    const byHeight = (this.contentHeight * MAX_DIGIT_HEIGHT) / GLYPH_ROWS;
    const dot = Math.max(
      1,
      Math.floor(Math.min(this.contentWidth / textWidthDots(pattern), byHeight)),
    );
    for (const [index, patternChar] of [...pattern].entries()) {
      if (patternChar === ' ') continue;
      const precedingText = pattern.slice(0, index);
      const x = margin + (precedingText === '' ? 0 : textWidthDots(precedingText) + 1) * dot;
      this.add(
        (unixMs) => format(unixMs)[index] ?? ' ',
        (letter) => {
          frame.fill(x, top, GLYPH_COLUMNS * dot, GLYPH_ROWS * dot, BACKGROUND);
          frame.drawGlyph(String(letter), x, top, dot, color);
        },
      );
    }
  }

  /** Adds one bar per interval of a second; the current one is lit, and a mark runs across them. */
  private addIntervalBars(): void {
    const { frame, margin, contentWidth } = this;
    const y = floorToEven(this.contentHeight * BARS_TOP);
    const height = Math.max(2, floorToEven(this.contentHeight * BARS_HEIGHT));
    const gap = Math.max(2, floorToEven(contentWidth * 0.012));
    const length = floorToEven((contentWidth + gap) / INTERVALS_PER_SECOND) - gap;
    const mark = Math.max(2, floorToEven(contentWidth * 0.014));
    this.add(
      (unixMs) => Math.floor(((unixMs % 1_000) / 1_000) * (contentWidth - mark)),
      (position) => {
        const x = floorToEven(Number(position));
        const lit = Math.min(
          INTERVALS_PER_SECOND - 1,
          Math.floor((x / (contentWidth - mark)) * INTERVALS_PER_SECOND),
        );
        frame.fill(margin, y, contentWidth, height, BACKGROUND);
        for (let bar = 0; bar < INTERVALS_PER_SECOND; bar++) {
          frame.fill(
            margin + bar * (length + gap),
            y,
            length,
            height,
            bar === lit ? ACCENT_COLOR : INACTIVE_BAR_COLOR,
          );
        }
        frame.fill(margin + x, y, mark, height, CLOCK_COLOR);
      },
    );
  }

  private addTimeCode(): void {
    const { frame, contentHeight } = this;
    const { width, height } = frame;
    frame.fill(0, contentHeight, width, height - contentHeight, BLACK);
    let codeMs = Number.NaN;
    let code: number[] = [];
    for (let cell = 0; cell < CODE_BITS; cell++) {
      const column = cell % CODE_COLUMNS;
      const row = Math.floor(cell / CODE_COLUMNS);
      const left = Math.round((column * width) / CODE_COLUMNS);
      const right = Math.round(((column + 1) * width) / CODE_COLUMNS);
      const top = Math.round(contentHeight + (row * (height - contentHeight)) / CODE_ROWS);
      const bottom = Math.round(contentHeight + ((row + 1) * (height - contentHeight)) / CODE_ROWS);
      this.add(
        (unixMs) => {
          if (unixMs !== codeMs) {
            codeMs = unixMs;
            code = encodeTimeCode(unixMs);
          }
          return code[cell] ?? 0;
        },
        (bit) => frame.fill(left, top, right - left, bottom - top, bit === 1 ? WHITE : BLACK),
      );
    }
  }

  private labelDotSize(): number {
    return Math.max(1, Math.floor(Math.min(this.contentWidth / 250, this.contentHeight / 145)));
  }
}

function formatClock(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(11, 23);
}

/** Formats the interval in groups of three digits: `7 000 000 000`. */
function formatInterval(unixMs: number): string {
  return String(intervalAt(unixMs)).replace(/\B(?=(\d{3})+$)/g, ' ');
}

/** Width of a text in dots, including a trailing space. */
function textWidthDots(text: string): number {
  const gaps = text.split(' ').length - 1;
  return (text.length - gaps) * GLYPH_ADVANCE + gaps * GAP_ADVANCE - 1;
}

function floorToEven(value: number): number {
  return 2 * Math.floor(value / 2);
}
