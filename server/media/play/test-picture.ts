import { intervalAt } from '../../../protocol/interval.ts';
import { drawable, GLYPH_ADVANCE, GLYPH_COLUMNS, GLYPH_ROWS } from './glyphs.ts';
import { CODE_BITS, CODE_COLUMNS, CODE_ROWS, CODE_TOP, codeOf } from './picture-code.ts';
import { type YuvColor, YuvPicture, yuvOf } from './yuv-picture.ts';

export interface TestPictureOptions {
  /** Even, from 160 to 3840. */
  readonly width: number;
  /** Even, from 90 to 2160. */
  readonly height: number;
  /** Title of the stream; left out where there are no letters for it. */
  readonly title: string;
}

/** A part of the picture that is painted again when what it shows has changed. */
interface Region {
  shown: string | number | undefined;
  readonly shows: (unixMs: number) => string | number;
  readonly paint: (what: string | number) => void;
}

const NIGHT = yuvOf(17, 19, 40);
const DUSK = yuvOf(45, 50, 92);
const PALE = yuvOf(139, 147, 199);
const SNOW = yuvOf(247, 245, 240);
const AMBER = yuvOf(255, 197, 84);
const MINT = yuvOf(94, 222, 196);
const BLACK = yuvOf(0, 0, 0);
const WHITE = yuvOf(255, 255, 255);

// How the texts look: all digits are equally wide, so that nothing jumps.
const CLOCK = 'HH:MM:SS.mmm';
const INTERVAL = '7 000 000 000';
// A gap between groups of digits, in dots.
const GAP_ADVANCE = 3;
const BEATS = 4;
const MARGIN_SHARE = 0.055;

// Where things begin, as shares of the height above the strip.
const TITLE_AT = 0.067;
const CLOCK_AT = 0.193;
const INTERVAL_AT = 0.527;
const BEATS_AT = 0.86;
const BEATS_SHARE = 0.06;
// Digits are no higher than this.
const DIGITS_SHARE = 0.2;

/**
 * The test picture (SPEC M-45): service time and interval in large digits, four beats a second with
 * a mark that runs through them, and a strip for programs (`picture-code.ts`). It is the same for
 * the same moment, whatever was drawn before; only what has changed is painted.
 */
export class TestPicture {
  private readonly picture: YuvPicture;
  private readonly regions: Region[] = [];
  private readonly margin: number;
  private readonly room: number;
  private readonly above: number;

  constructor({ width, height, title }: TestPictureOptions) {
    this.picture = new YuvPicture(width, height);
    this.margin = even(width * MARGIN_SHARE);
    this.room = width - 2 * this.margin;
    this.above = Math.round(height * CODE_TOP);
    this.picture.fill(0, 0, width, height, NIGHT);
    this.paintTitle(title);
    this.addText(CLOCK_AT, 'UTC', CLOCK, SNOW, clockOf);
    this.addText(INTERVAL_AT, 'INTERVAL', INTERVAL, AMBER, intervalText);
    this.addBeats();
    this.addCode();
  }

  /** @returns the picture of a moment as `yuv420p`; the next call paints over it */
  draw(unixMs: number): Uint8Array {
    for (const region of this.regions) {
      const what = region.shows(unixMs);
      if (what === region.shown) continue;
      region.shown = what;
      region.paint(what);
    }
    return this.picture.bytes;
  }

  private add(shows: Region['shows'], paint: Region['paint']): void {
    this.regions.push({ shown: undefined, shows, paint });
  }

  private paintTitle(title: string): void {
    const dot = this.smallDot();
    const y = Math.round(this.above * TITLE_AT);
    const name = 'FOURBEAT';
    this.picture.text(name, this.margin, y, dot, MINT);
    const rest = Math.floor(this.room / (dot * GLYPH_ADVANCE)) - name.length - 2;
    const shown = (drawable(title) ?? '').slice(0, Math.max(0, rest)).trim();
    const width = shown.length * GLYPH_ADVANCE * dot - dot;
    this.picture.text(shown, this.margin + this.room - width, y, dot, PALE);
  }

  /** Text as large as it fits, under a small label; it must be like the pattern. */
  private addText(
    at: number,
    label: string,
    pattern: string,
    color: YuvColor,
    textOf: (unixMs: number) => string,
  ): void {
    const { picture, margin } = this;
    const small = this.smallDot();
    const y = Math.round(this.above * at);
    picture.text(label, margin, y, small, PALE);
    const top = y + (GLYPH_ROWS + 3) * small;
    const byHeight = (this.above * DIGITS_SHARE) / GLYPH_ROWS;
    const dot = Math.max(1, Math.floor(Math.min(this.room / dotsOf(pattern), byHeight)));
    for (const [place, like] of [...pattern].entries()) {
      if (like === ' ') continue;
      const before = pattern.slice(0, place);
      const x = margin + (before === '' ? 0 : dotsOf(before) + 1) * dot;
      this.add(
        (unixMs) => textOf(unixMs)[place] ?? ' ',
        (letter) => {
          picture.fill(x, top, GLYPH_COLUMNS * dot, GLYPH_ROWS * dot, NIGHT);
          picture.letter(String(letter), x, top, dot, color);
        },
      );
    }
  }

  /** Four beats of a second; the one that is on is lit, and a mark runs over all of them. */
  private addBeats(): void {
    const { picture, margin, room } = this;
    const y = even(this.above * BEATS_AT);
    const height = Math.max(2, even(this.above * BEATS_SHARE));
    const gap = Math.max(2, even(room * 0.012));
    const length = even((room + gap) / BEATS) - gap;
    const mark = Math.max(2, even(room * 0.014));
    this.add(
      (unixMs) => Math.floor(((unixMs % 1_000) / 1_000) * (room - mark)),
      (place) => {
        const x = even(Number(place));
        const lit = Math.min(BEATS - 1, Math.floor((x / (room - mark)) * BEATS));
        picture.fill(margin, y, room, height, NIGHT);
        for (let beat = 0; beat < BEATS; beat++) {
          picture.fill(
            margin + beat * (length + gap),
            y,
            length,
            height,
            beat === lit ? MINT : DUSK,
          );
        }
        picture.fill(margin + x, y, mark, height, SNOW);
      },
    );
  }

  private addCode(): void {
    const { picture, above } = this;
    const { width, height } = picture;
    picture.fill(0, above, width, height - above, BLACK);
    let codeMs = Number.NaN;
    let code: number[] = [];
    for (let cell = 0; cell < CODE_BITS; cell++) {
      const column = cell % CODE_COLUMNS;
      const row = Math.floor(cell / CODE_COLUMNS);
      const left = Math.round((column * width) / CODE_COLUMNS);
      const right = Math.round(((column + 1) * width) / CODE_COLUMNS);
      const top = Math.round(above + (row * (height - above)) / CODE_ROWS);
      const bottom = Math.round(above + ((row + 1) * (height - above)) / CODE_ROWS);
      this.add(
        (unixMs) => {
          if (unixMs !== codeMs) {
            codeMs = unixMs;
            code = codeOf(unixMs);
          }
          return code[cell] ?? 0;
        },
        (bit) => picture.fill(left, top, right - left, bottom - top, bit === 1 ? WHITE : BLACK),
      );
    }
  }

  private smallDot(): number {
    return Math.max(1, Math.floor(Math.min(this.room / 250, this.above / 145)));
  }
}

function clockOf(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(11, 23);
}

/** `7 000 000 000`: in groups, so that the digits that change are found. */
function intervalText(unixMs: number): string {
  return String(intervalAt(unixMs)).replace(/\B(?=(\d{3})+$)/g, ' ');
}

/** How wide a text is, in dots; a gap at its end counts. */
function dotsOf(text: string): number {
  const gaps = text.split(' ').length - 1;
  return (text.length - gaps) * GLYPH_ADVANCE + gaps * GAP_ADVANCE - 1;
}

function even(value: number): number {
  return 2 * Math.floor(value / 2);
}
