import { describe, expect, test } from 'bun:test';
import { Recording, type RecordingEvents } from './recording.ts';

const URL = '/media/show/master.m3u8';
const SEGMENTS = [
  { start: 0, duration: 1, programDateTime: 100_000 },
  { start: 1, duration: 1, programDateTime: 110_000 },
];

/** What is used of a `<video>`. */
class FakeVideo extends EventTarget {
  readyState = 0;
  currentTime = 0;

  isLoaded(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event('loadedmetadata'));
  }
}

async function fixture() {
  const video = new FakeVideo();
  let events: RecordingEvents | null = null;
  let stops = 0;
  const recording = new Recording(async (_video, url, told) => {
    expect(url).toBe(URL);
    events = told;
    return { segments: () => SEGMENTS, stop: () => stops++ };
  });
  const stop = recording.start(video as unknown as HTMLVideoElement, URL);
  await Promise.resolve();
  await Promise.resolve();
  return { video, recording, stop, events: () => events, stops: () => stops };
}

describe('a recording', () => {
  test('tells when the frame on screen was filmed, as it moves', async () => {
    const { video, recording } = await fixture();
    expect(recording.snapshot).toEqual({ state: 'loading', shownMs: null });
    const told: (number | null)[] = [];
    recording.subscribe(() => told.push(recording.snapshot.shownMs));
    video.isLoaded();
    video.currentTime = 1.5;
    video.dispatchEvent(new Event('timeupdate'));
    expect(told).toEqual([100_000, 110_500]);
    expect(recording.snapshot.state).toBe('ready');
  });

  test('goes to what was filmed at a moment', async () => {
    const { video, recording } = await fixture();
    video.isLoaded();
    recording.seek(110_250);
    expect(video.currentTime).toBe(1.25);
    expect(recording.snapshot.shownMs).toBe(110_250);
    // And stays where it plays from there.
    video.currentTime = 1.75;
    video.dispatchEvent(new Event('timeupdate'));
    expect(video.currentTime).toBe(1.75);
  });

  test('goes there as soon as it can', async () => {
    const { video, recording } = await fixture();
    recording.seek(110_250);
    expect(video.currentTime).toBe(0);
    video.isLoaded();
    expect(video.currentTime).toBe(1.25);
  });

  test('says that it is not kept any more', async () => {
    const { recording, events, stop } = await fixture();
    events()?.onAbsent();
    expect(recording.snapshot).toEqual({ state: 'absent', shownMs: null });
    stop();
    expect(recording.snapshot.state).toBe('absent');
  });

  test('that cannot be opened is not there', async () => {
    const recording = new Recording(() => Promise.reject(new Error('offline')));
    recording.start(new FakeVideo() as unknown as HTMLVideoElement, URL);
    await Bun.sleep(0);
    expect(recording.snapshot.state).toBe('absent');
  });

  test('is let go of', async () => {
    const { video, recording, stop, stops } = await fixture();
    video.isLoaded();
    stop();
    expect(stops()).toBe(1);
    expect(recording.snapshot).toEqual({ state: 'loading', shownMs: null });
    video.dispatchEvent(new Event('timeupdate'));
    expect(recording.snapshot.shownMs).toBeNull();
  });
});
