import Hls, { type ErrorData } from 'hls.js';
import { Again } from './again.ts';
import type { SourceListener } from './source.ts';
import { MOVING } from './stage-video.ts';

/** What is needed of hls.js. */
export type MendedHls = Pick<
  Hls,
  'on' | 'media' | 'levels' | 'loadSource' | 'startLoad' | 'recoverMediaError'
>;

// A picture that breaks again within this is not helped by being set up anew at once, ms.
const HEALS_WITHIN_MS = 5_000;

/** Brings hls.js back when it gave up. @returns what ends it */
export function mend(
  hls: MendedHls,
  url: string,
  listener: Pick<SourceListener, 'onAbsent' | 'onBroken' | 'mayCome'>,
): () => void {
  const again = new Again();
  let recoveredAtMs = Number.NEGATIVE_INFINITY;
  const hasHealed = () => performance.now() - recoveredAtMs >= HEALS_WITHIN_MS;
  const recover = () => {
    recoveredAtMs = performance.now();
    hls.recoverMediaError();
  };
  hls.on(Hls.Events.ERROR, (_, error) => {
    if (!error.fatal) return;
    const isAbsent = error.response?.code === 404;
    const isUndecodable = error.type === Hls.ErrorTypes.MEDIA_ERROR;
    if (isAbsent) listener.onAbsent();
    // One that still has something to show goes on, and tells by itself when that is used up.
    else if (isUndecodable || !isMoving(hls.media)) listener.onBroken();
    if (!isUndecodable) {
      again.later(() => {
        if (!isAbsent || listener.mayCome()) goOn(hls, url, error);
      });
    } else if (hasHealed()) recover();
    else again.later(recover);
  });
  hls.on(Hls.Events.FRAG_BUFFERED, () => {
    // What cannot be decoded may be taken into the buffer all the same.
    if (hasHealed()) again.worked();
  });
  return () => again.stop();
}

function isMoving(video: HTMLMediaElement | null): boolean {
  return video !== null && !video.paused && video.readyState >= MOVING;
}

/** What had begun goes on where it was; what had not begins anew. */
function goOn(hls: MendedHls, url: string, { details }: ErrorData): void {
  const isAtStart = hls.levels.length === 0 || details.startsWith('manifest');
  if (isAtStart) hls.loadSource(url);
  else hls.startLoad();
}
