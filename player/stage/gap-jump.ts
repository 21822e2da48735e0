import Hls, { type Fragment } from 'hls.js';
import { MOVING } from './stage-video.ts';

/** What is needed of hls.js. */
export interface HlsWithGaps extends Pick<Hls, 'on'> {
  readonly levels: readonly {
    readonly details?: { readonly fragments: readonly Part[] } | undefined;
  }[];
}

type Part = Pick<Fragment, 'start' | 'end' | 'gap'>;

/** What is needed of the `<video>`. */
export interface JumpingVideo extends EventTarget {
  currentTime: number;
  readonly readyState: number;
}

interface Hole {
  readonly from: number;
  readonly to: number;
}

// The picture may end a little before its last segment says, s.
const NEAR_S = 1;

/**
 * Takes the picture over what was never recorded (EXT-X-GAP) as soon as it comes there. hls.js
 * looks at each missing segment for about a second, so that a hole would last as long as it is.
 * @returns what ends it
 */
export function jumpOverGaps(hls: HlsWithGaps, video: JumpingVideo): () => void {
  let hole: Hole | null = null;
  const jump = () => {
    if (!hole) return;
    const { currentTime } = video;
    if (currentTime > hole.from - NEAR_S && currentTime < hole.to) video.currentTime = hole.to;
  };
  hls.on(Hls.Events.ERROR, (_, { details, frag }) => {
    if (details === Hls.ErrorDetails.BUFFER_STALLED_ERROR) jump();
    if (details !== Hls.ErrorDetails.FRAG_GAP || frag?.type !== 'main') return;
    hole = holeAt(hls.levels[frag.level]?.details?.fragments ?? [], frag.start) ?? hole;
    // It may stand there already: in a live show, what comes after the hole is known only later.
    if (video.readyState < MOVING) jump();
  });
  video.addEventListener('waiting', jump);
  return () => video.removeEventListener('waiting', jump);
}

/** @returns null while nothing comes before it or after it */
function holeAt(parts: readonly Part[], start: number): Hole | null {
  const before = parts.findLast((part) => part.start < start && !part.gap);
  const next = parts.find((part) => part.start >= start && !part.gap);
  return before && next ? { from: before.end, to: next.start } : null;
}
