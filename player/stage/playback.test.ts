import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { pictureOf } from '../../sdk/pictures.ts';
import { asStageVideo, FakeVideo } from '../../test/support/player/pages/fake-video.ts';
import { type PlaybackState, startPlayback } from './playback.ts';
import type { SourceListener } from './source.ts';

let video: FakeVideo;
let source: SourceListener;
let told: PlaybackState[];
let stop: () => void;

beforeEach(() => {
  jest.useFakeTimers();
  video = new FakeVideo();
  told = [];
  const listener = {
    onState: (state: PlaybackState) => told.push(state),
    onSilenced: () => {},
    mayCome: () => false,
  };
  stop = startPlayback(asStageVideo(video), '/show/master.m3u8', listener, async (_, __, heard) => {
    source = heard;
    return { picture: pictureOf(() => null), stop: () => {} };
  });
});
afterEach(() => {
  stop();
  jest.useRealTimers();
});

test('a picture that is interrupted for long is lost, and is there again', () => {
  video.tell('playing');
  source.onBroken();
  jest.advanceTimersByTime(9_999);
  expect(told).toEqual(['loading', 'playing', 'stalled']);
  jest.advanceTimersByTime(1);
  video.tell('playing');
  expect(told).toEqual(['loading', 'playing', 'stalled', 'lost', 'playing']);
});

test.each([{ everyMs: 4_000 }, { everyMs: 15_000 }])(
  'one that fails again each $everyMs ms is lost once, and stays so',
  ({ everyMs }) => {
    video.tell('playing');
    for (let passedMs = 0; passedMs < 60_000; passedMs += everyMs) {
      source.onBroken();
      jest.advanceTimersByTime(everyMs);
    }
    expect(told).toEqual(['loading', 'playing', 'stalled', 'lost']);
  },
);

test('one that is not there is not interrupted', () => {
  source.onAbsent();
  source.onBroken();
  jest.advanceTimersByTime(60_000);
  expect(told).toEqual(['loading', 'absent']);
});
