import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  complaints,
  FRAGMENTED,
  made,
  PICTURE,
  probed,
  TONE,
} from '../../../test/support/media/made-with-ffmpeg.ts';
import { concatBytes } from '../byte-queue.ts';
import { boxes, findBox, requireBox, uint32 } from './box.ts';
import { Fmp4Reader } from './fmp4-reader.ts';
import type { Fragment, InitSegment } from './fragment.ts';
import { retimeFragment } from './retime.ts';

const PIECES = ['-frag_duration', '500000', ...FRAGMENTED];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-bf', '0'];
const video = made([...PICTURE, '-t', '3', ...X264, ...PIECES]);
const audio = made([...TONE, '-t', '3', '-c:a', 'aac', ...PIECES]);
/** 2026-11-20, Unix s. */
const SERVICE_S = 1_795_000_000;

function read(bytes: Uint8Array): { init: InitSegment; fragments: Fragment[] } {
  const items = new Fmp4Reader().push(bytes);
  const [first] = items;
  if (first?.kind !== 'init') throw new Error('no init segment');
  return {
    init: first.init,
    fragments: items.flatMap((item) => (item.kind === 'fragment' ? [item.fragment] : [])),
  };
}

/** The same with a `tfdt` of 32 bits, as other encoders write it. */
function withShortTime({ bytes }: Fragment): Uint8Array {
  const moof = findBox(bytes, 0, bytes.length, 'moof');
  if (!moof) throw new Error('no moof');
  const traf = requireBox(bytes, moof, 'traf');
  const tfdt = requireBox(bytes, traf, 'tfdt');
  const cut = tfdt.contentStart + 4;
  const short = concatBytes([bytes.subarray(0, cut), bytes.subarray(cut + 4)]);
  const view = new DataView(short.buffer);
  for (const box of [moof, traf, tfdt]) view.setUint32(box.start, box.end - box.start - 4);
  view.setUint8(tfdt.contentStart, 0);
  for (const box of boxes(short, traf.contentStart, traf.end - 4)) {
    if (box.type === 'trun')
      view.setInt32(box.contentStart + 8, view.getInt32(box.contentStart + 8) - 4);
  }
  return short;
}

describe('a fragment at another time', () => {
  test('[M-12] plays at the time that was written, far beyond 32 bits', () => {
    for (const bytes of [video, audio]) {
      const { init, fragments } = read(bytes);
      const shift = SERVICE_S * init.timescale;
      const moved = fragments.map((one, i) =>
        retimeFragment(one, one.startTicks + shift + 1024, i),
      );
      const whole = concatBytes([init.bytes, ...moved]);
      const before = probed(bytes).map(({ pts }) => pts);
      expect(probed(whole).map(({ pts }) => pts)).toEqual(before.map((pts) => pts + shift + 1024));
      expect(complaints(whole)).toBe('');
    }
  });

  test('[M-12] whose time had 32 bits only becomes the same bytes', () => {
    for (const fragment of [...read(video).fragments, ...read(audio).fragments.slice(1)]) {
      const bytes = withShortTime(fragment);
      expect(bytes.length).toBe(fragment.bytes.length - 4);
      const short = { ...fragment, bytes };
      expect(retimeFragment(short, 7, 9)).toEqual(retimeFragment(fragment, 7, 9));
    }
  });

  test('[M-12] reads back as it was, but for the time', () => {
    const { init, fragments } = read(video);
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(2 ** 33), (startTicks, sequence) => {
        const [fragment] = fragments as [Fragment];
        const bytes = retimeFragment(fragment, startTicks, sequence);
        const again = read(concatBytes([init.bytes, bytes])).fragments;
        expect(again).toEqual([{ ...fragment, startTicks, bytes }]);
        const mfhd = indexOf(bytes, 'mfhd');
        expect(uint32(bytes, mfhd + 8)).toBe(sequence % 2 ** 32);
      }),
    );
  });

  test('leaves the one that it is made of alone', () => {
    const [fragment] = read(video).fragments as [Fragment];
    const before = fragment.bytes.slice();
    retimeFragment(fragment, 1, 1);
    expect(fragment.bytes).toEqual(before);
  });

  test('cannot start before 1970, or between two ticks', () => {
    const [fragment] = read(video).fragments as [Fragment];
    for (const ticks of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => retimeFragment(fragment, ticks, 1)).toThrow('no fragment can start');
    }
  });
});

function indexOf(bytes: Uint8Array, text: string): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(text);
}
