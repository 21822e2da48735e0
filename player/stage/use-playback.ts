import { useEffect, useState } from 'react';
import type { Picture, Stream } from '../../sdk/types.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { type PlaybackState, startPlayback } from './playback.ts';
import { type StageVideo, setLive } from './stage-video.ts';

interface StagePlayback {
  readonly state: PlaybackState;
  /** Whether the video has played before. */
  readonly hasBegun: boolean;
  /** The wall clock of the video's frames; null while no stream is loaded. */
  readonly picture: Picture | null;
  /** Whether the browser plays the video without sound until the viewer turns the sound on. */
  readonly isAutoMuted: boolean;
}

const NO_STREAM = { state: 'none', hasBegun: false, picture: null, isAutoMuted: false } as const;

/** In these states there is no frame to synchronize with: events are shown as they come. */
const WITHOUT_PICTURE = new Set<PlaybackState>(['lost', 'missing', 'over', 'not-loaded']);

/** Plays the stream once it has started, and synchronizes the viewer's events with its video. */
export function usePlayback(viewer: Viewer, video: StageVideo, stream: Stream | null) {
  const [playback, setPlayback] = useState<StagePlayback>(NO_STREAM);
  const isLive = stream?.status !== 'ENDED';
  const { streamId } = viewer;
  const url = stream && stream.status !== 'CREATED' ? stream.hls_url : null;

  useEffect(() => setLive(video, isLive), [video, isLive]);

  useEffect(() => {
    if (url === null) return;
    let followed: Picture | null = null;
    const follow = (picture: Picture | null) => {
      if (picture === followed) return;
      followed = picture;
      viewer.follow(picture);
    };
    const stop = startPlayback(video, url, {
      onState: (state, picture) => {
        follow(WITHOUT_PICTURE.has(state) ? null : picture);
        setPlayback((before) => {
          const hasBegun = before.hasBegun || state === 'playing';
          return { ...before, state, hasBegun, picture };
        });
      },
      onMuted: () => setPlayback((before) => ({ ...before, isAutoMuted: true })),
      // A show that is over without a recording will not get one.
      retriesMissing: () => viewer.snapshot.stream?.status !== 'ENDED',
      // Another service may have a recording as the video of a live show.
      mustBeLive: () =>
        viewer.snapshot.stream?.status === 'STREAMING' && url.includes(`/media/${streamId}/`),
    });
    return () => {
      stop();
      follow(null);
      setPlayback(NO_STREAM);
    };
  }, [viewer, video, url, streamId]);

  useEffect(() => {
    const onVolumeChange = () => {
      if (!video.muted) setPlayback((before) => ({ ...before, isAutoMuted: false }));
    };
    video.addEventListener('volumechange', onVolumeChange);
    return () => video.removeEventListener('volumechange', onVolumeChange);
  }, [video]);

  return playback;
}
