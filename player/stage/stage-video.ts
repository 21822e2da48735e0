import { RenditionList } from './rendition-list.ts';

/** A `readyState` (HAVE_FUTURE_DATA): with less, a picture stands still. */
export const MOVING = 3;

/** A `<video>` that tells the controls what they cannot read from it. */
export interface StageVideo extends HTMLVideoElement {
  /** Whether there is more to come. */
  streamType: 'live' | 'on-demand';
  /** How far back one may go, s; NaN: not at all. */
  targetLiveWindow: number;
  /** From here on it is live, s of its own time; null: ask `seekable`. */
  liveEdgeStart: number | null;
  readonly videoRenditions: RenditionList;
}

/**
 * Made by hand, since the controls look at all this when the element comes to them, before React
 * would tell us that it is there.
 */
export function newStageVideo(): StageVideo {
  const video = document.createElement('video');
  video.slot = 'media';
  video.playsInline = true;
  video.className = 'stage-video';
  return Object.assign(video, {
    streamType: 'live' as const,
    targetLiveWindow: Number.POSITIVE_INFINITY,
    liveEdgeStart: null,
    videoRenditions: new RenditionList(),
  });
}

/** Says whether there is more to come. */
export function setLive(video: StageVideo, isLive: boolean): void {
  const streamType = isLive ? 'live' : 'on-demand';
  if (video.streamType === streamType) return;
  video.streamType = streamType;
  video.targetLiveWindow = isLive ? Number.POSITIVE_INFINITY : Number.NaN;
  video.dispatchEvent(new Event('streamtypechange'));
  video.dispatchEvent(new Event('targetlivewindowchange'));
}
