import { describe, expect, test } from 'bun:test';
import { ENCODER_SETTINGS } from '../../../test/support/media/encoded.ts';
import type { TrackId } from '../segment.ts';
import type { SourceInfo } from './encoder.ts';
import { EncoderTracks } from './encoder-tracks.ts';
import { silentFragment, silentInit } from './silence.ts';

const SOURCE: SourceInfo = { width: 96, height: 54, frameRate: [15, 1], hasAudio: true };
const FRAGMENT_MS = (silentFragment(0, 100).durationTicks * 1000) / 48_000;

/** What is told of fragments that are all alike: only their times matter here. */
function tracksOf(hasAudio: boolean) {
  const told: [TrackId, number][] = [];
  const began: TrackId[][] = [];
  const tracks = new EncoderTracks(
    { container: 'flv', source: { ...SOURCE, hasAudio }, settings: ENCODER_SETTINGS, startMs: 0 },
    {
      onInits: (tracks) => began.push(tracks.map(({ id }) => id)),
      onFragment: (track, { startTicks }) => told.push([track, Math.round(startTicks / 48)]),
    },
  );
  return {
    tracks,
    told,
    began,
    init: (...ids: TrackId[]) => {
      for (const id of ids) tracks.push(tracks.writtenTracks.indexOf(id), silentInit().bytes, 0);
    },
    /** A fragment of this track that begins at this source time. */
    fragment: (id: TrackId, startMs: number, nowMs: number) =>
      tracks.push(tracks.writtenTracks.indexOf(id), silentFragment(startMs * 48, 100).bytes, nowMs),
    soundMs: () => told.filter(([id]) => id === 'a0').map(([, startMs]) => startMs),
  };
}

describe('the tracks of an encoder', () => {
  test('[M-10] begin together, before all fragments', () => {
    const { init, fragment, began, told } = tracksOf(true);
    init('v0');
    fragment('v0', 0, 0);
    init('v2', 'v1');
    fragment('v1', 0, 0);
    expect(began).toEqual([]);
    expect(told).toEqual([]);
    init('a0');
    expect(began).toEqual([['v0', 'v1', 'v2', 'a0']]);
    fragment('a0', 0, 0);
    expect(told.map(([id]) => id)).toEqual(['v0', 'v1', 'a0']);
  });

  test('[M-13] are always with sound: silence beside every picture of a source that has none', () => {
    const { init, fragment, began, soundMs } = tracksOf(false);
    init('v0', 'v1', 'v2');
    expect(began).toEqual([['v0', 'v1', 'v2', 'a0']]);
    fragment('v0', 5_000, 0);
    expect(soundMs()[0]).toBe(5_000);
    expect(soundMs().at(-1)).toBeGreaterThanOrEqual(5_000 + Math.floor(FRAGMENT_MS));
  });

  test('[M-13] begin without sound that stays away, and sound comes in later', () => {
    const { init, fragment, began, soundMs, tracks } = tracksOf(true);
    init('v0', 'v1', 'v2');
    for (let ms = 0; ms <= 2_000; ms += 100) fragment('v0', ms, ms);
    tracks.checkAudio(1_900);
    expect(began).toEqual([]);
    tracks.checkAudio(2_000);
    expect(began).toEqual([['v0', 'v1', 'v2', 'a0']]);
    expect(soundMs()[0]).toBe(0);
    const filledTo = soundMs().at(-1) ?? 0;
    expect(filledTo).toBeGreaterThanOrEqual(2_000);
    init('a0');
    fragment('a0', 1_900, 2_100);
    expect(soundMs().at(-1)).toBe(filledTo);
    fragment('a0', 2_300, 2_400);
    expect(soundMs().at(-1)).toBe(2_300);
    expect(began).toHaveLength(1);
  });

  test('[M-13] go on when sound stops in the middle', () => {
    const { init, fragment, soundMs, tracks } = tracksOf(true);
    init('v0', 'v1', 'v2', 'a0');
    for (let ms = 0; ms < 1_000; ms += 100) {
      fragment('v0', ms, ms);
      fragment('a0', ms, ms);
    }
    for (let ms = 1_000; ms < 4_000; ms += 100) {
      fragment('v0', ms, ms);
      tracks.checkAudio(ms);
    }
    expect(soundMs().at(-1)).toBeGreaterThanOrEqual(4_000);
    // What the encoder fills in for the gap, late, is not heard again.
    const heard = soundMs().length;
    fragment('a0', 1_100, 4_050);
    expect(soundMs()).toHaveLength(heard);
    fragment('v0', 4_000, 4_100);
    expect(soundMs().at(-1)).toBeGreaterThanOrEqual(4_106);
    const resumesMs = (soundMs().at(-1) ?? 0) + 107;
    fragment('a0', resumesMs, 4_200);
    fragment('v0', 4_100, 4_200);
    expect(soundMs().at(-1)).toBe(resumesMs);
  });

  test('[M-13] leave sound alone that is only as late as the picture', () => {
    const { init, fragment, soundMs, tracks } = tracksOf(true);
    init('v0', 'v1', 'v2', 'a0');
    fragment('v0', 0, 0);
    fragment('a0', 0, 0);
    tracks.checkAudio(60_000);
    expect(soundMs()).toEqual([0]);
  });

  test('[M-16] that never begin are not kept for ever', () => {
    const { init, tracks } = tracksOf(true);
    init('v0');
    const large = new Uint8Array(20 << 20);
    new DataView(large.buffer).setUint32(0, large.length);
    large.set(new TextEncoder().encode('mdat'), 4);
    const { bytes } = silentFragment(0, 100);
    const moof = bytes.subarray(0, new DataView(bytes.buffer).getUint32(0));
    const push = () => {
      tracks.push(0, moof, 0);
      tracks.push(0, large, 0);
    };
    push();
    expect(push).toThrow('a track did not begin');
  });
});
