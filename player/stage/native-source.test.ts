import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { asStageVideo, FakeVideo } from '../../test/support/player/pages/fake-video.ts';
import { nativeSource } from './native-source.ts';
import type { Source } from './source.ts';

const LONG_MS = 60_000;

let video: FakeVideo;
let told: string[];
let mayCome: boolean;
let source: Source;

beforeEach(() => {
  jest.useFakeTimers();
  video = new FakeVideo();
  told = [];
  mayCome = true;
  source = nativeSource(asStageVideo(video), '/show/master.m3u8', {
    onReady: () => told.push('ready'),
    onAbsent: () => told.push('absent'),
    onBroken: () => told.push('broken'),
    mayCome: () => mayCome,
  });
});
afterEach(() => {
  jest.useRealTimers();
});

test('what is not there yet is asked for again', () => {
  video.tell('error');
  jest.advanceTimersByTime(LONG_MS);
  expect([told, video.loads]).toEqual([['absent'], 1]);
});

test('what is over and was never there is not', () => {
  mayCome = false;
  video.tell('error');
  jest.advanceTimersByTime(LONG_MS);
  expect([told, video.loads]).toEqual([['absent'], 0]);
});

test('a recording that lost its network goes on where it was, however often it fails', () => {
  mayCome = false;
  video.tell('loadedmetadata');
  video.currentTime = 42;
  for (let failures = 1; failures <= 2; failures++) {
    video.tell('error');
    jest.advanceTimersByTime(LONG_MS);
    expect(video.loads).toBe(failures);
  }
  video.tell('loadedmetadata');
  expect(told).toEqual(['ready', 'broken', 'broken', 'ready']);
  expect(video.currentTime).toBe(42);
});

test('what was stopped is not loaded again', () => {
  video.tell('error');
  source.stop();
  const { loads } = video;
  jest.advanceTimersByTime(LONG_MS);
  expect(video.loads).toBe(loads);
});
