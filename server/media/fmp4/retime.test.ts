import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  AUDIO_INPUT,
  decodeErrors,
  FRAGMENTED_MP4_OUTPUT,
  probePackets,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { concatBytes } from '../byte-queue.ts';
import { boxes, findBox, requireBox, uint32 } from './box.ts';
import { Fmp4Reader } from './fmp4-reader.ts';
import type { Fragment, InitSegment } from './fragment.ts';
import { retimeFragment } from './retime.ts';

const PIECES = ['-frag_duration', '500000', ...FRAGMENTED_MP4_OUTPUT];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-bf', '0'];
const video = runFfmpeg([...VIDEO_INPUT, '-t', '3', ...X264, ...PIECES]);
const audio = runFfmpeg([...AUDIO_INPUT, '-t', '3', '-c:a', 'aac', ...PIECES]);
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

/** A copy with a 32-bit `tfdt`, as other encoders write it. */
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

describe('retimeFragment', () => {
  test('[M-12] a fragment plays at the new time, beyond 32 bits', () => {
    for (const bytes of [video, audio]) {
      const { init, fragments } = read(bytes);
      const shift = SERVICE_S * init.timescale;
      const moved = fragments.map((fragment, i) =>
        retimeFragment(fragment, fragment.startTicks + shift + 1024, i),
      );
      const whole = concatBytes([init.bytes, ...moved]);
      const before = probePackets(bytes).map(({ pts }) => pts);
      expect(probePackets(whole).map(({ pts }) => pts)).toEqual(
        before.map((pts) => pts + shift + 1024),
      );
      expect(decodeErrors(whole)).toBe('');
    }
  });

  test('[M-12] 32-bit time gives the same result as a 64-bit time', () => {
    for (const fragment of [...read(video).fragments, ...read(audio).fragments.slice(1)]) {
      const bytes = withShortTime(fragment);
      expect(bytes.length).toBe(fragment.bytes.length - 4);
      const short = { ...fragment, bytes };
      expect(retimeFragment(short, 7, 9)).toEqual(retimeFragment(fragment, 7, 9));
    }
  });

  test('[M-12] only the time and the sequence number change', () => {
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

  test('the original fragment is not modified', () => {
    const [fragment] = read(video).fragments as [Fragment];
    const before = fragment.bytes.slice();
    retimeFragment(fragment, 1, 1);
    expect(fragment.bytes).toEqual(before);
  });

  test('retimeFragment rejects a start that is no safe whole number or is below 0', () => {
    const [fragment] = read(video).fragments as [Fragment];
    for (const ticks of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => retimeFragment(fragment, ticks, 1)).toThrow('a fragment cannot start');
    }
  });
});

function indexOf(bytes: Uint8Array, text: string): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(text);
}
