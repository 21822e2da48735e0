import { readPicture } from '../../media/read-test-picture.ts';
import type { Overlay, PictureClockApi } from '../picture-clock.ts';

// Runs in the watch page: reads the clock that is burnt into the test video, also at the moment at
// which a quiz appears over it.

const QUESTION = '[aria-label="Quiz"] h2';

const overlays: Overlay[] = [];
let shown: Element | null = null;
const canvas = document.createElement('canvas');
const context = canvas.getContext('2d', { willReadFrequently: true });

const videoOf = () => document.querySelector('video');

function pictureMs(): number | null {
  const video = videoOf();
  if (!context || !video || video.videoWidth === 0) return null;
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  context.drawImage(video, 0, 0);
  const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
  return readPicture({ width, height, data, format: 'rgba' })?.unixMs ?? null;
}

function behindMs(): number | null {
  const frameMs = pictureMs();
  return frameMs === null ? null : Date.now() - frameMs;
}

/** Records the frame at the next repaint, when the question is on screen. */
function record(question: Element): void {
  requestAnimationFrame(() => {
    const frameMs = pictureMs();
    if (frameMs === null) return;
    overlays.push({
      question: question.textContent ?? '',
      pictureMs: frameMs,
      nowMs: Date.now(),
    });
  });
}

new MutationObserver(() => {
  const question = document.querySelector(QUESTION);
  if (question && question !== shown) record(question);
  shown = question;
}).observe(document, { subtree: true, childList: true });

const pictureClock: PictureClockApi = {
  pictureMs,
  behindMs,
  seek(targetMs) {
    const video = videoOf();
    const latencyMs = behindMs();
    if (video && latencyMs !== null) video.currentTime += (latencyMs - targetMs) / 1_000;
  },
  overlays: () => overlays,
};
Object.assign(globalThis, { pictureClock });
