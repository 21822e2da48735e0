import { describe, expect, test } from 'bun:test';
import { Recording, type RecordingEvents } from './recording.ts';

const URL = '/media/show/master.m3u8';
const SEGMENTS = [
  { start: 0, duration: 1, programDateTime: 100_000 },
  { start: 1, duration: 1, programDateTime: 110_000 },
];

/** The parts of a `<video>` that Recording uses. */
class FakeVideo extends EventTarget {
  readyState = 0;
  currentTime = 0;

  load(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event('loadedmetadata'));
  }
}

async function fixture() {
  const video = new FakeVideo();
  let events: RecordingEvents | null = null;
  let stops = 0;
  const recording = new Recording(async (_video, url, callbacks) => {
    expect(url).toBe(URL);
    events = callbacks;
    return { segments: () => SEGMENTS, stop: () => stops++ };
  });
  const stop = recording.start(video as unknown as HTMLVideoElement, URL);
  await Promise.resolve();
  await Promise.resolve();
  return { video, recording, stop, events: () => events, stops: () => stops };
}

describe('Recording', () => {
  test('reports the capture time of the frame on screen as it plays', async () => {
    const { video, recording } = await fixture();
    expect(recording.snapshot).toEqual({ state: 'loading', shownMs: null });
    const shownMs: (number | null)[] = [];
    recording.subscribe(() => shownMs.push(recording.snapshot.shownMs));
    video.load();
    video.currentTime = 1.5;
    video.dispatchEvent(new Event('timeupdate'));
    expect(shownMs).toEqual([100_000, 110_500]);
    expect(recording.snapshot.state).toBe('ready');
  });

  test('seeks to a capture time', async () => {
    const { video, recording } = await fixture();
    video.load();
    recording.seek(110_250);
    expect(video.currentTime).toBe(1.25);
    expect(recording.snapshot.shownMs).toBe(110_250);
    // Playback continues from there.
    video.currentTime = 1.75;
    video.dispatchEvent(new Event('timeupdate'));
    expect(video.currentTime).toBe(1.75);
  });

  test('delays a seek until the video is loaded', async () => {
    const { video, recording } = await fixture();
    recording.seek(110_250);
    expect(video.currentTime).toBe(0);
    video.load();
    expect(video.currentTime).toBe(1.25);
  });

  test('is absent after `onAbsent`, also after a stop', async () => {
    const { recording, events, stop } = await fixture();
    events()?.onAbsent();
    expect(recording.snapshot).toEqual({ state: 'absent', shownMs: null });
    stop();
    expect(recording.snapshot.state).toBe('absent');
  });

  test('is not absent when its player did not load', async () => {
    const recording = new Recording(() => Promise.reject(new Error('offline')));
    recording.start(new FakeVideo() as unknown as HTMLVideoElement, URL);
    await Bun.sleep(0);
    expect(recording.snapshot.state).toBe('not-loaded');
  });

  test('stays as it is when its player did not load before a stop', async () => {
    const recording = new Recording(() => Promise.reject(new Error('offline')));
    recording.start(new FakeVideo() as unknown as HTMLVideoElement, URL)();
    await Bun.sleep(0);
    expect(recording.snapshot.state).toBe('loading');
  });

  test('releases the element after a stop', async () => {
    const { video, recording, stop, stops } = await fixture();
    video.load();
    stop();
    expect(stops()).toBe(1);
    expect(recording.snapshot).toEqual({ state: 'loading', shownMs: null });
    video.dispatchEvent(new Event('timeupdate'));
    expect(recording.snapshot.shownMs).toBeNull();
  });
});
