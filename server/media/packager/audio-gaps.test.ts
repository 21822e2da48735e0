import { describe, expect, test } from 'bun:test';
import { Fmp4Reader } from '../fmp4/fmp4-reader.ts';
import type { Fragment } from '../fmp4/fragment.ts';
import { AudioGapFiller, audioTrack } from './audio-gaps.ts';
import { silentFragment, silentInit } from './silence.ts';

const fragment = (startTicks: number, durationTicks = 5_120): Fragment => ({
  bytes: new Uint8Array(8),
  startTicks,
  durationTicks,
  isSync: true,
});

/** Every fragment starts where the previous one ends. */
function expectContiguous(fragments: readonly Fragment[]): void {
  for (const [index, { startTicks, durationTicks }] of fragments.entries()) {
    const next = fragments[index + 1];
    if (next) expect(next.startTicks).toBe(startTicks + durationTicks);
  }
}

/** A frame of 1,024 samples, rounded up: a fragment consists of whole ones. */
const FRAME_MS = 22;

describe('silence', () => {
  test.each([0, 48_000, -1_024, 1_732_118_400 * 48_000])(
    '[M-13] a silent fragment at %p is valid',
    (startTicks) => {
      const reader = new Fmp4Reader();
      const [init] = reader.push(silentInit().bytes);
      expect(init).toEqual({ kind: 'init', init: silentInit() });
      const silent = silentFragment(startTicks, 100);
      expect(reader.push(silent.bytes)).toEqual([{ kind: 'fragment', fragment: silent }]);
      expect(silent).toMatchObject({ startTicks, durationTicks: 5_120, isSync: true });
    },
  );

  test('[M-13] a silent track has the properties of an audio track', () => {
    expect(audioTrack('a0', silentInit(), 100)).toMatchObject({
      kind: 'audio',
      codec: 'mp4a.40.2',
      timescale: 48_000,
      channels: 2,
    });
  });

  test('[M-13] silence covers the video from its start to past its end', () => {
    const filler = new AudioGapFiller(100);
    const fragments = [...filler.fill(10_000, 10_500), ...filler.fill(10_000, 11_000)];
    expectContiguous(fragments);
    expect(fragments[0]?.startTicks).toBe(480_000);
    const last = fragments.at(-1)?.startTicks ?? 0;
    expect(last).toBeGreaterThanOrEqual(11 * 48_000);
    expect(last).toBeLessThan(11 * 48_000 + 2 * 5_120);
  });

  test.each([20, 25, 29.97, 30, 50, 59.94, 60])(
    '[M-13] silence stays with the video for ten minutes, at %p frames a second',
    (framesPerS) => {
      for (const fragmentMs of [100, 200]) {
        const filler = new AudioGapFiller(fragmentMs);
        const videoMs = (Math.round((framesPerS * fragmentMs) / 1_000) * 1_000) / framesPerS;
        const leadsMs: number[] = [];
        let silenceMs = 0;
        for (let endMs = videoMs; endMs < 600_000; endMs += videoMs) {
          for (const { startTicks, durationTicks } of filler.fill(0, endMs))
            silenceMs = (startTicks + durationTicks) / 48;
          leadsMs.push(silenceMs - endMs);
        }
        expect(Math.min(...leadsMs)).toBeGreaterThan(0);
        expect(Math.max(...leadsMs)).toBeLessThan(2 * fragmentMs + FRAME_MS);
      }
    },
  );

  test('[M-13] silence follows audio that stops, and audio that it already covers is dropped', () => {
    const filler = new AudioGapFiller(100);
    const fragments = [fragment(0), fragment(5_120)].filter((audio) => filler.accept(audio));
    expect(filler.lagMs(0, 2_000)).toBeCloseTo(2_000 - 213.3, 0);
    fragments.push(...filler.fill(0, 2_000));
    for (let ticks = 10_240; ticks < 200_000; ticks += 5_000) {
      const audio = fragment(ticks, 5_000);
      if (filler.accept(audio)) fragments.push(audio);
    }
    for (const [index, { startTicks, durationTicks }] of fragments.entries()) {
      const next = fragments[index + 1];
      const gapTicks =
        (next?.startTicks ?? startTicks + durationTicks) - startTicks - durationTicks;
      expect(Math.abs(gapTicks)).toBeLessThanOrEqual(2_560);
    }
  });
});
