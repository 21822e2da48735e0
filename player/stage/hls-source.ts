import Hls from 'hls.js';
import { hlsPicture } from '../../sdk/pictures.ts';
import { jumpOverGaps } from './gap-jump.ts';
import { mend } from './hls-mending.ts';
import type { Source, SourceListener } from './source.ts';
import type { StageVideo } from './stage-video.ts';

// How far behind the newest frame it still counts as live, s: more than players keep by themselves.
const LIVE_WITHIN_S = 6;

/** Brings a stream into the element by Media Source Extensions; null where they are not enough. */
export function hlsSource(video: StageVideo, url: string, listener: SourceListener): Source | null {
  if (!Hls.isSupported()) return null;
  const hls = new Hls({ backBufferLength: 30, liveDurationInfinity: true });
  const stopMending = mend(hls, url, listener);
  const stopJumping = jumpOverGaps(hls, video);
  hls.on(Hls.Events.MANIFEST_PARSED, () => {
    video.videoRenditions.replace(
      hls.levels.map(({ width, height, bitrate }, at) => ({ id: `${at}`, width, height, bitrate })),
    );
    listener.onReady();
  });
  hls.on(Hls.Events.LEVEL_UPDATED, (_, { details }) => {
    video.liveEdgeStart = details.live ? details.edge - LIVE_WITHIN_S : null;
  });
  const choose = () => {
    hls.nextLevel = video.videoRenditions.selectedIndex;
  };
  video.videoRenditions.addEventListener('change', choose);
  hls.attachMedia(video);
  hls.loadSource(url);
  return {
    picture: hlsPicture(hls),
    stop() {
      stopMending();
      stopJumping();
      video.videoRenditions.removeEventListener('change', choose);
      video.videoRenditions.replace([]);
      hls.destroy();
    },
  };
}
