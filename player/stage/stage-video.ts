import { RenditionList } from './rendition-list.ts';

/** A `readyState`: with a lower one, the video does not advance. */
export const HAVE_FUTURE_DATA = 3;

/** A `<video>` with the properties that media-chrome reads from a media element. */
export interface StageVideo extends HTMLVideoElement {
  streamType: 'live' | 'on-demand';
  /** The seekable time, seconds; NaN: not live. */
  targetLiveWindow: number;
  /** The media time from which playback counts as live, seconds; null: from `seekable`. */
  liveEdgeStart: number | null;
  readonly videoRenditions: RenditionList;
}

/** Creates the video without React: the controls read these properties before React has it. */
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

/** Switches the controls between live and on-demand. */
export function setLive(video: StageVideo, isLive: boolean): void {
  const streamType = isLive ? 'live' : 'on-demand';
  if (video.streamType === streamType) return;
  video.streamType = streamType;
  video.targetLiveWindow = isLive ? Number.POSITIVE_INFINITY : Number.NaN;
  video.dispatchEvent(new Event('streamtypechange'));
  video.dispatchEvent(new Event('targetlivewindowchange'));
}
