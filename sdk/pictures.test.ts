import { describe, expect, test } from 'bun:test';
import { hlsPicture, nativePicture, pictureOf, shakaPicture } from './pictures.ts';

const WALL_MS = 1_760_000_000_000;

describe('the wall clock of the frame on screen', () => {
  test('is what hls.js says, as it says it', () => {
    const hls = { playingDate: null as Date | null };
    const picture = hlsPicture(hls);
    expect(picture.wallClockMs()).toBeNull();
    hls.playingDate = new Date(WALL_MS);
    expect(picture.wallClockMs()).toBe(WALL_MS);
  });

  test('is what shaka says, once it has a picture', () => {
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

  test('is not that of a shaka whose video has none: its dates begin in 1970', () => {
    const player = { isFullyLoaded: () => true, getPlayheadTimeAsDate: () => new Date(12_000) };
    expect(shakaPicture(player).wallClockMs()).toBeNull();
  });

  test('is when the timeline of Safari began, and how far it is', () => {
    const video = { currentTime: 1.5, getStartDate: () => new Date(WALL_MS) };
    expect(nativePicture(video).wallClockMs()).toBe(WALL_MS + 1_500);
    video.getStartDate = () => new Date(Number.NaN);
    expect(nativePicture(video).wallClockMs()).toBeNull();
    expect(nativePicture({ currentTime: 1.5 }).wallClockMs()).toBeNull();
  });

  test('is none where a player of one’s own throws, or says what is no time', () => {
    const gone = pictureOf(() => {
      throw new Error('The player is gone.');
    });
    expect(gone.wallClockMs()).toBeNull();
    expect(pictureOf(() => Number.NaN).wallClockMs()).toBeNull();
    expect(pictureOf(() => undefined as never).wallClockMs()).toBeNull();
    expect(pictureOf(() => WALL_MS).wallClockMs()).toBe(WALL_MS);
  });
});
