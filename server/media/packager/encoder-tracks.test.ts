import { describe, expect, test } from 'bun:test';
import { ENCODER_SETTINGS } from '../../../test/support/media/encoder-fixture.ts';
import type { TrackId } from '../segment.ts';
import type { SourceInfo } from './encoder.ts';
import { EncoderTracks } from './encoder-tracks.ts';
import { silentFragment, silentInit } from './silence.ts';

const SOURCE: SourceInfo = { width: 96, height: 54, frameRate: [15, 1], hasAudio: true };
const FRAGMENT_MS = (silentFragment(0, 100).durationTicks * 1000) / 48_000;

/** Records the start times of emitted fragments, ms; their contents do not matter. */
function createTracks(hasAudio: boolean) {
  const emitted: [TrackId, number][] = [];
  const inits: TrackId[][] = [];
  const missing: boolean[] = [];
  const tracks = new EncoderTracks(
    { container: 'flv', source: { ...SOURCE, hasAudio }, settings: ENCODER_SETTINGS, startMs: 0 },
    {
      onInits: (tracks) => inits.push(tracks.map(({ id }) => id)),
      onFragment: (track, { startTicks }) => emitted.push([track, Math.round(startTicks / 48)]),
      onAudioMissing: (isMissing) => missing.push(isMissing),
    },
  );
  return {
    tracks,
    emitted,
    inits,
    missing,
    init: (...ids: TrackId[]) => {
      for (const id of ids) tracks.push(tracks.writtenTracks.indexOf(id), silentInit().bytes, 0);
    },
    /** Pushes a fragment of a track with this source time. */
    fragment: (id: TrackId, startMs: number, nowMs: number) =>
      tracks.push(tracks.writtenTracks.indexOf(id), silentFragment(startMs * 48, 100).bytes, nowMs),
    audioStartsMs: () => emitted.filter(([id]) => id === 'a0').map(([, startMs]) => startMs),
  };
}

describe('encoder tracks', () => {
  test('[M-10] the init segments of all tracks are emitted before any fragment', () => {
    const { init, fragment, inits, emitted } = createTracks(true);
    init('v0');
    fragment('v0', 0, 0);
    init('v2', 'v1');
    fragment('v1', 0, 0);
    expect(inits).toEqual([]);
    expect(emitted).toEqual([]);
    init('a0');
    expect(inits).toEqual([['v0', 'v1', 'v2', 'a0']]);
    fragment('a0', 0, 0);
    expect(emitted.map(([id]) => id)).toEqual(['v0', 'v1', 'a0']);
  });

  test('[M-13] a source without audio gets silence beside its video', () => {
    const { init, fragment, inits, audioStartsMs } = createTracks(false);
    init('v0', 'v1', 'v2');
    expect(inits).toEqual([['v0', 'v1', 'v2', 'a0']]);
    fragment('v0', 5_000, 0);
    expect(audioStartsMs()[0]).toBe(5_000);
    expect(audioStartsMs().at(-1)).toBeGreaterThanOrEqual(5_000 + Math.floor(FRAGMENT_MS));
  });

  test('[M-13] missing audio is replaced by silence until it arrives', () => {
    const { init, fragment, inits, audioStartsMs, tracks } = createTracks(true);
    init('v0', 'v1', 'v2');
    for (let ms = 0; ms <= 2_000; ms += 100) fragment('v0', ms, ms);
    tracks.checkAudio(1_900);
    expect(inits).toEqual([]);
    tracks.checkAudio(2_000);
    expect(inits).toEqual([['v0', 'v1', 'v2', 'a0']]);
    expect(audioStartsMs()[0]).toBe(0);
    const filledTo = audioStartsMs().at(-1) ?? 0;
    expect(filledTo).toBeGreaterThanOrEqual(2_000);
    init('a0');
    fragment('a0', 1_900, 2_100);
    expect(audioStartsMs().at(-1)).toBe(filledTo);
    fragment('a0', 2_300, 2_400);
    expect(audioStartsMs().at(-1)).toBe(2_300);
    expect(inits).toHaveLength(1);
  });

  test('[M-13] audio that stops is replaced by silence', () => {
    const { init, fragment, audioStartsMs, tracks, missing } = createTracks(true);
    init('v0', 'v1', 'v2', 'a0');
    for (let ms = 0; ms < 1_000; ms += 100) {
      fragment('v0', ms, ms);
      fragment('a0', ms, ms);
    }
    for (let ms = 1_000; ms < 4_000; ms += 100) {
      fragment('v0', ms, ms);
      tracks.checkAudio(ms);
    }
    expect(audioStartsMs().at(-1)).toBeGreaterThanOrEqual(4_000);
    expect(missing).toEqual([true]);
    // Late audio of the encoder for the filled gap is dropped.
    const count = audioStartsMs().length;
    fragment('a0', 1_100, 4_050);
    expect(audioStartsMs()).toHaveLength(count);
    fragment('v0', 4_000, 4_100);
    expect(audioStartsMs().at(-1)).toBeGreaterThanOrEqual(4_106);
    const resumesMs = (audioStartsMs().at(-1) ?? 0) + 107;
    fragment('a0', resumesMs, 4_200);
    fragment('v0', 4_100, 4_200);
    expect(audioStartsMs().at(-1)).toBe(resumesMs);
    expect(missing).toEqual([true, false]);
  });

  test('[M-13] audio that is as late as the video is not replaced', () => {
    const { init, fragment, audioStartsMs, tracks } = createTracks(true);
    init('v0', 'v1', 'v2', 'a0');
    fragment('v0', 0, 0);
    fragment('a0', 0, 0);
    tracks.checkAudio(60_000);
    expect(audioStartsMs()).toEqual([0]);
  });

  test('[M-16] more than 10 s of video at once get no silence instead of their audio', () => {
    const { init, fragment, tracks, audioStartsMs } = createTracks(true);
    init('v0', 'v1', 'v2');
    for (let ms = 0; ms <= 9_800; ms += 100) fragment('v0', ms, 0);
    expect(() => fragment('v0', 9_900, 0)).toThrow('a track has no init segment');
    tracks.checkAudio(0);
    expect(audioStartsMs()).toEqual([]);
  });

  test('[M-16] audio that is hours behind the video is an error instead of hours of silence', () => {
    const { init, fragment, tracks, audioStartsMs } = createTracks(true);
    init('v0', 'v1', 'v2', 'a0');
    fragment('a0', 100_000, 0);
    fragment('v0', 95_000_000, 3_000);
    expect(() => tracks.checkAudio(3_000)).toThrow('more than 10 s behind the video');
    expect(audioStartsMs()).toEqual([100_000]);
  });

  test('[M-16] a jump of hours in a video without audio is an error instead of hours of silence', () => {
    const { init, fragment, audioStartsMs } = createTracks(false);
    init('v0', 'v1', 'v2');
    fragment('v0', 0, 0);
    const before = audioStartsMs();
    expect(() => fragment('v0', 95_000_000, 100)).toThrow('more than 10 s behind the video');
    expect(audioStartsMs()).toEqual(before);
  });

  test('[M-16] fragments pending for a track without init segment are limited', () => {
    const { init, tracks } = createTracks(true);
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
    expect(push).toThrow('a track has no init segment');
  });
});
