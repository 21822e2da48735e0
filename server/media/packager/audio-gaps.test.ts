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

/** Every fragment begins where the one before ends. */
function expectWhole(fragments: readonly Fragment[]): void {
  for (const [index, { startTicks, durationTicks }] of fragments.entries()) {
    const next = fragments[index + 1];
    if (next) expect(next.startTicks).toBe(startTicks + durationTicks);
  }
}

describe('silence', () => {
  test.each([0, 48_000, -1_024, 1_732_118_400 * 48_000])('[M-13] at %p is whole', (startTicks) => {
    const reader = new Fmp4Reader();
    const [init] = reader.push(silentInit().bytes);
    expect(init).toEqual({ kind: 'init', init: silentInit() });
    const silent = silentFragment(startTicks, 100);
    expect(reader.push(silent.bytes)).toEqual([{ kind: 'fragment', fragment: silent }]);
    expect(silent).toMatchObject({ startTicks, durationTicks: 5_120, isSync: true });
  });

  test('[M-13] is a track like any other', () => {
    expect(audioTrack('a0', silentInit(), 100)).toMatchObject({
      kind: 'audio',
      codec: 'mp4a.40.2',
      timescale: 48_000,
      channels: 2,
    });
  });

  test('[M-13] goes from the first picture to past the last', () => {
    const line = new AudioGapFiller(100);
    const fragments = [...line.fill(10_000, 10_500), ...line.fill(10_000, 11_000)];
    expectWhole(fragments);
    expect(fragments[0]?.startTicks).toBe(480_000);
    const last = fragments.at(-1)?.startTicks ?? 0;
    expect(last).toBeGreaterThanOrEqual(11 * 48_000);
    expect(last).toBeLessThan(11 * 48_000 + 2 * 5_120);
  });

  test('[M-13] follows sound that went away; what comes late is not heard twice', () => {
    const line = new AudioGapFiller(100);
    const heard = [fragment(0), fragment(5_120)].filter((sound) => line.accept(sound));
    expect(line.lagMs(0, 2_000)).toBeCloseTo(2_000 - 213.3, 0);
    heard.push(...line.fill(0, 2_000));
    for (let ticks = 10_240; ticks < 200_000; ticks += 5_000) {
      const sound = fragment(ticks, 5_000);
      if (line.accept(sound)) heard.push(sound);
    }
    for (const [index, { startTicks, durationTicks }] of heard.entries()) {
      const next = heard[index + 1];
      const holeTicks =
        (next?.startTicks ?? startTicks + durationTicks) - startTicks - durationTicks;
      expect(Math.abs(holeTicks)).toBeLessThanOrEqual(2_560);
    }
  });
});
