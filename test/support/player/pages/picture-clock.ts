import { readPicture } from '../../media/read-test-picture.ts';
import type { Overlay, PictureClockApi } from '../picture-clock.ts';

// Runs in the viewer page: reads the clock that is burnt into the test picture, also at the moment
// that a quiz is over it.

const QUESTION = '[aria-label="Quiz"] h2';

const overlays: Overlay[] = [];
let shown: Element | null = null;
const canvas = document.createElement('canvas');
const drawing = canvas.getContext('2d', { willReadFrequently: true });

const videoOf = () => document.querySelector('video');

function pictureMs(): number | null {
  const video = videoOf();
  if (!drawing || !video || video.videoWidth === 0) return null;
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  drawing.drawImage(video, 0, 0);
  const { data, width, height } = drawing.getImageData(0, 0, canvas.width, canvas.height);
  return readPicture({ width, height, data, format: 'rgba' })?.unixMs ?? null;
}

function behindMs(): number | null {
  const pictureAt = pictureMs();
  return pictureAt === null ? null : Date.now() - pictureAt;
}

/** The question is in the page, and on the next frame of the screen. */
function note(question: Element): void {
  requestAnimationFrame(() => {
    const moment = pictureMs();
    if (moment === null) return;
    overlays.push({
      question: question.textContent ?? '',
      pictureMs: moment,
      nowMs: Date.now(),
    });
  });
}

new MutationObserver(() => {
  const question = document.querySelector(QUESTION);
  if (question && question !== shown) note(question);
  shown = question;
}).observe(document, { subtree: true, childList: true });

const pictureClock: PictureClockApi = {
  pictureMs,
  behindMs,
  seek(wantedMs) {
    const video = videoOf();
    const behind = behindMs();
    if (video && behind !== null) video.currentTime += (behind - wantedMs) / 1_000;
  },
  overlays: () => overlays,
};
Object.assign(globalThis, { pictureClock });
