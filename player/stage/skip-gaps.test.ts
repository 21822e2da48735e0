import { beforeEach, expect, test } from 'bun:test';
import Hls from 'hls.js';
import { FakeHls } from '../../test/support/player/pages/fake-hls.ts';
import { FakeVideo } from '../../test/support/player/pages/fake-video.ts';
import { type HlsWithGaps, skipGaps } from './skip-gaps.ts';

const { ErrorDetails, Events } = Hls;

let hls: FakeHls;
let video: FakeVideo;

beforeEach(() => {
  hls = new FakeHls();
  video = new FakeVideo();
  video.readyState = 4;
  skipGaps(hls as unknown as HlsWithGaps, video);
});

/** @param segments of 2 s from 0 on: `#` is there, `.` is missing */
function setPlaylist(segments: string): void {
  const fragments = [...segments].map((segment, index) => ({
    ...{ start: index * 2, end: index * 2 + 2, gap: segment === '.' },
  }));
  hls.levels = [{ details: { fragments } }];
}

/** hls.js reports a missing segment. */
const reportGap = (start: number, type = 'main') =>
  hls.emit(Events.ERROR, { details: ErrorDetails.FRAG_GAP, frag: { type, level: 0, start } });

test.each([
  { what: 'waits', happens: () => video.emit('waiting') },
  {
    what: 'stalls',
    happens: () => hls.emit(Events.ERROR, { details: ErrorDetails.BUFFER_STALLED_ERROR }),
  },
])('video that $what at a gap continues after the whole gap', ({ happens }) => {
  setPlaylist('##....##');
  reportGap(4);
  expect(video.currentTime).toBe(0);
  video.currentTime = 3.9;
  happens();
  expect(video.currentTime).toBe(12);
});

test('video that waits elsewhere stays there', () => {
  setPlaylist('##....##');
  video.emit('waiting');
  reportGap(4);
  for (const currentTime of [2.9, 12, 13]) {
    video.currentTime = currentTime;
    video.emit('waiting');
    expect(video.currentTime).toBe(currentTime);
  }
});

test('video at the live edge continues as soon as the end of the gap is known', () => {
  setPlaylist('##...');
  video.currentTime = 3.9;
  video.readyState = 2;
  reportGap(4);
  video.emit('waiting');
  expect(video.currentTime).toBe(3.9);
  setPlaylist('##....#');
  reportGap(10);
  expect(video.currentTime).toBe(12);
});

test('a gap in another track is ignored', () => {
  setPlaylist('##....##');
  reportGap(4, 'audio');
  video.currentTime = 3.9;
  video.emit('waiting');
  expect(video.currentTime).toBe(3.9);
});
