import { describe, expect, test } from 'bun:test';
import { hlsPicture, nativePicture, pictureOf, shakaPicture } from './pictures.ts';

const WALL_MS = 1_760_000_000_000;

describe('the wall clock of the frame on screen', () => {
  test('is that of hls.js', () => {
    const hls = { playingDate: null as Date | null };
    const picture = hlsPicture(hls);
    expect(picture.wallClockMs()).toBeNull();
    hls.playingDate = new Date(WALL_MS);
    expect(picture.wallClockMs()).toBe(WALL_MS);
  });

  test('is that of shaka, once it has loaded', () => {
    const player = {
      isLoaded: false,
      isFullyLoaded: () => player.isLoaded,
      getPlayheadTimeAsDate: () => new Date(WALL_MS) as Date | null,
    };
    const picture = shakaPicture(player);
    expect(picture.wallClockMs()).toBeNull();
    player.isLoaded = true;
    expect(picture.wallClockMs()).toBe(WALL_MS);
    player.getPlayheadTimeAsDate = () => null;
    expect(picture.wallClockMs()).toBeNull();
  });

  test('is null for shaka when the video has none: its dates are of 1970', () => {
    const player = { isFullyLoaded: () => true, getPlayheadTimeAsDate: () => new Date(12_000) };
    expect(shakaPicture(player).wallClockMs()).toBeNull();
  });

  test('is the start of Safari’s timeline plus the current time', () => {
    const video = { currentTime: 1.5, getStartDate: () => new Date(WALL_MS) };
    expect(nativePicture(video).wallClockMs()).toBe(WALL_MS + 1_500);
    video.getStartDate = () => new Date(Number.NaN);
    expect(nativePicture(video).wallClockMs()).toBeNull();
    expect(nativePicture({ currentTime: 1.5 }).wallClockMs()).toBeNull();
  });

  test('is null when a custom player throws, or returns no number', () => {
    const failing = pictureOf(() => {
      throw new Error('The player is gone.');
    });
    expect(failing.wallClockMs()).toBeNull();
    expect(pictureOf(() => Number.NaN).wallClockMs()).toBeNull();
    expect(pictureOf(() => undefined as never).wallClockMs()).toBeNull();
    expect(pictureOf(() => WALL_MS).wallClockMs()).toBe(WALL_MS);
  });
});
