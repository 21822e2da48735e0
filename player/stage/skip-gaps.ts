import Hls, { type Fragment } from 'hls.js';
import { HAVE_FUTURE_DATA } from './stage-video.ts';

/** The part of hls.js that `skipGaps` needs. */
export interface HlsWithGaps extends Pick<Hls, 'on'> {
  readonly levels: readonly {
    readonly details?: { readonly fragments: readonly Segment[] } | undefined;
  }[];
}

type Segment = Pick<Fragment, 'start' | 'end' | 'gap'>;

/** The part of a `<video>` that `skipGaps` needs. */
export interface SeekableVideo extends EventTarget {
  currentTime: number;
  readonly readyState: number;
}

/** A time range of the video without media, seconds. */
interface Gap {
  readonly from: number;
  readonly to: number;
}

// Playback may wait up to this long before a gap: media may end before its last segment does.
const TOLERANCE_S = 1;

/**
 * Seeks over segments that were never recorded (EXT-X-GAP) as soon as playback reaches them. hls.js
 * takes about a second for each missing segment, so a gap would last as long as it is.
 * @returns a function that stops it
 */
export function skipGaps(hls: HlsWithGaps, video: SeekableVideo): () => void {
  let gap: Gap | null = null;
  const skip = () => {
    if (!gap) return;
    const { currentTime } = video;
    if (currentTime > gap.from - TOLERANCE_S && currentTime < gap.to) video.currentTime = gap.to;
  };
  hls.on(Hls.Events.ERROR, (_, { details, frag }) => {
    if (details === Hls.ErrorDetails.BUFFER_STALLED_ERROR) skip();
    if (details !== Hls.ErrorDetails.FRAG_GAP || frag?.type !== 'main') return;
    gap = gapAt(hls.levels[frag.level]?.details?.fragments ?? [], frag.start) ?? gap;
    // In a live show playback may wait there already: the end of the gap is known only later.
    if (video.readyState < HAVE_FUTURE_DATA) skip();
  });
  video.addEventListener('waiting', skip);
  return () => video.removeEventListener('waiting', skip);
}

/** @returns null while there is no segment before or after the gap */
function gapAt(segments: readonly Segment[], start: number): Gap | null {
  const before = segments.findLast((segment) => segment.start < start && !segment.gap);
  const next = segments.find((segment) => segment.start >= start && !segment.gap);
  return before && next ? { from: before.end, to: next.start } : null;
}
