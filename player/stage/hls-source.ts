import Hls from 'hls.js';
import { hlsPicture } from '../../sdk/pictures.ts';
import { createHls } from './create-hls.ts';
import { EndedPlaylist } from './ended-playlist.ts';
import { recoverFromErrors } from './hls-recovery.ts';
import { skipGaps } from './skip-gaps.ts';
import type { Source, SourceListener } from './source.ts';
import type { StageVideo } from './stage-video.ts';

// Up to this latency the controls show "Live", seconds: more than players keep by themselves.
const LIVE_LATENCY_MAX_S = 6;

/** Plays HLS by Media Source Extensions. @returns null when the browser does not support it */
export function hlsSource(video: StageVideo, url: string, listener: SourceListener): Source | null {
  if (!Hls.isSupported()) return null;
  const hls = createHls(url, { backBufferLength: 30, liveDurationInfinity: true });
  const stopRecovery = recoverFromErrors(hls, url, listener);
  const stopSkipping = skipGaps(hls, video);
  const endedPlaylist = new EndedPlaylist(listener.mustBeLive);
  hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
    if (!endedPlaylist.refuse(!details.live, () => hls.loadSource(url))) return;
    hls.stopLoad();
    listener.onMissing();
  });
  hls.on(Hls.Events.MANIFEST_PARSED, () => {
    video.videoRenditions.replace(
      hls.levels.map(({ width, height, bitrate }, id) => ({ id: `${id}`, width, height, bitrate })),
    );
    listener.onReady();
  });
  hls.on(Hls.Events.LEVEL_UPDATED, (_, { details }) => {
    video.liveEdgeStart = details.live ? details.edge - LIVE_LATENCY_MAX_S : null;
  });
  const selectLevel = () => {
    hls.nextLevel = video.videoRenditions.selectedIndex;
  };
  video.videoRenditions.addEventListener('change', selectLevel);
  hls.attachMedia(video);
  hls.loadSource(url);
  return {
    picture: hlsPicture(hls),
    stop() {
      stopRecovery();
      stopSkipping();
      endedPlaylist.stop();
      video.videoRenditions.removeEventListener('change', selectLevel);
      video.videoRenditions.replace([]);
      hls.destroy();
    },
  };
}
