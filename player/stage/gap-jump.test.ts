import { beforeEach, expect, test } from 'bun:test';
import Hls from 'hls.js';
import { FakeHls } from '../../test/support/player/pages/fake-hls.ts';
import { FakeVideo } from '../../test/support/player/pages/fake-video.ts';
import { type HlsWithGaps, jumpOverGaps } from './gap-jump.ts';

const { ErrorDetails, Events } = Hls;

let hls: FakeHls;
let video: FakeVideo;

beforeEach(() => {
  hls = new FakeHls();
  video = new FakeVideo();
  video.readyState = 4;
  jumpOverGaps(hls as unknown as HlsWithGaps, video);
});

/** Segments of 2 s from 0 on; a dot is one that is missing. */
function list(segments: string): void {
  const fragments = [...segments].map((segment, at) => ({
    ...{ start: at * 2, end: at * 2 + 2, gap: segment === '.' },
  }));
  hls.levels = [{ details: { fragments } }];
}

/** hls.js comes to a segment that is missing. */
const lookAt = (start: number, type = 'main') =>
  hls.tell(Events.ERROR, { details: ErrorDetails.FRAG_GAP, frag: { type, level: 0, start } });

test.each([
  { sign: 'waits', comes: () => video.tell('waiting') },
  {
    sign: 'stalls',
    comes: () => hls.tell(Events.ERROR, { details: ErrorDetails.BUFFER_STALLED_ERROR }),
  },
])('a picture that $sign at a hole goes on after the whole of it', ({ comes }) => {
  list('##....##');
  lookAt(4);
  expect(video.currentTime).toBe(0);
  video.currentTime = 3.9;
  comes();
  expect(video.currentTime).toBe(12);
});

test('one that waits elsewhere stays there', () => {
  list('##....##');
  video.tell('waiting');
  lookAt(4);
  for (const at of [2.9, 12, 13]) {
    video.currentTime = at;
    video.tell('waiting');
    expect(video.currentTime).toBe(at);
  }
});

test('at the live edge it goes on as soon as it is known where', () => {
  list('##...');
  video.currentTime = 3.9;
  video.readyState = 2;
  lookAt(4);
  video.tell('waiting');
  expect(video.currentTime).toBe(3.9);
  list('##....#');
  lookAt(10);
  expect(video.currentTime).toBe(12);
});

test('a hole in something else than the picture is none', () => {
  list('##....##');
  lookAt(4, 'audio');
  video.currentTime = 3.9;
  video.tell('waiting');
  expect(video.currentTime).toBe(3.9);
});
