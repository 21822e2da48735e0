import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { asStageVideo, FakeVideo } from '../../test/support/player/pages/fake-video.ts';
import { nativeSource } from './native-source.ts';
import type { Source } from './source.ts';

const LONG_MS = 60_000;

let video: FakeVideo;
let reports: string[];
let retriesMissing: boolean;
let mustBeLive: boolean;
let source: Source;

beforeEach(() => {
  jest.useFakeTimers();
  video = new FakeVideo();
  reports = [];
  retriesMissing = true;
  mustBeLive = false;
  source = nativeSource(asStageVideo(video), '/show/master.m3u8', {
    onReady: () => reports.push('ready'),
    onMissing: () => reports.push('missing'),
    onInterrupted: () => reports.push('interrupted'),
    retriesMissing: () => retriesMissing,
    mustBeLive: () => mustBeLive,
  });
});
afterEach(() => {
  jest.useRealTimers();
});

test('a missing stream is retried', () => {
  video.emit('error');
  jest.advanceTimersByTime(LONG_MS);
  expect([reports, video.loads]).toEqual([['missing'], 1]);
});

test('a missing stream of a show that is over is not retried', () => {
  retriesMissing = false;
  video.emit('error');
  jest.advanceTimersByTime(LONG_MS);
  expect([reports, video.loads]).toEqual([['missing'], 0]);
});

test('a recording resumes at its position after network failures, however many', () => {
  retriesMissing = false;
  video.emit('loadedmetadata');
  video.currentTime = 42;
  for (let failures = 1; failures <= 2; failures++) {
    video.emit('error');
    jest.advanceTimersByTime(LONG_MS);
    expect(video.loads).toBe(failures);
  }
  video.emit('loadedmetadata');
  expect(reports).toEqual(['ready', 'interrupted', 'interrupted', 'ready']);
  expect(video.currentTime).toBe(42);
});

test('[S-19] an ended video of a live show is loaded again, and not played', () => {
  mustBeLive = true;
  video.duration = 120;
  video.emit('loadedmetadata');
  expect(reports).toEqual(['missing']);
  jest.advanceTimersByTime(LONG_MS);
  expect(video.loads).toBe(1);
  video.duration = Number.POSITIVE_INFINITY;
  video.emit('loadedmetadata');
  expect(reports).toEqual(['missing', 'ready']);
});

test('a stopped source is not retried', () => {
  video.emit('error');
  source.stop();
  const { loads } = video;
  jest.advanceTimersByTime(LONG_MS);
  expect(video.loads).toBe(loads);
});
