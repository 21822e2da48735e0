import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { pictureOf } from '../../sdk/pictures.ts';
import { asStageVideo, FakeVideo } from '../../test/support/player/pages/fake-video.ts';
import { type PlaybackState, startPlayback } from './playback.ts';
import type { SourceListener } from './source.ts';

let video: FakeVideo;
let source: SourceListener;
let states: PlaybackState[];
let stop: () => void;

beforeEach(() => {
  jest.useFakeTimers();
  video = new FakeVideo();
  states = [];
  const playbackListener = {
    onState: (state: PlaybackState) => states.push(state),
    onMuted: () => {},
    retriesMissing: () => false,
    mustBeLive: () => false,
  };
  const createSource: Parameters<typeof startPlayback>[3] = async (_video, _url, listener) => {
    source = listener;
    return { picture: pictureOf(() => null), stop: () => {} };
  };
  stop = startPlayback(asStageVideo(video), '/show/master.m3u8', playbackListener, createSource);
});
afterEach(() => {
  stop();
  jest.useRealTimers();
});

test('video that stays stalled is lost after 10 s, and can play again', () => {
  video.emit('playing');
  source.onInterrupted();
  jest.advanceTimersByTime(9_999);
  expect(states).toEqual(['loading', 'playing', 'stalled']);
  jest.advanceTimersByTime(1);
  video.emit('playing');
  expect(states).toEqual(['loading', 'playing', 'stalled', 'lost', 'playing']);
});

test.each([{ everyMs: 4_000 }, { everyMs: 15_000 }])(
  'video whose retries fail every $everyMs ms is lost once, and stays lost',
  ({ everyMs }) => {
    video.emit('playing');
    for (let elapsedMs = 0; elapsedMs < 60_000; elapsedMs += everyMs) {
      source.onInterrupted();
      jest.advanceTimersByTime(everyMs);
    }
    expect(states).toEqual(['loading', 'playing', 'stalled', 'lost']);
  },
);

test('missing video is not stalled', () => {
  source.onMissing();
  source.onInterrupted();
  jest.advanceTimersByTime(60_000);
  expect(states).toEqual(['loading', 'missing']);
});
