import { useEffect, useState } from 'react';
import type { Picture, Stream } from '../../sdk/types.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { type PlaybackState, startPlayback } from './playback.ts';
import { type StageVideo, setLive } from './stage-video.ts';

export interface StagePlayback {
  readonly state: PlaybackState;
  /** Whether there was a picture already. */
  readonly hasBegun: boolean;
  /** The wall clock of its frames; null while nobody tries to play it. */
  readonly picture: Picture | null;
  /** The browser plays it without sound until the viewer asks for it. */
  readonly isSilenced: boolean;
}

const NONE: StagePlayback = { state: 'none', hasBegun: false, picture: null, isSilenced: false };

/** There is no picture then to wait for. */
const WITHOUT: ReadonlySet<PlaybackState> = new Set(['lost', 'absent', 'over', 'unloaded']);

/** Plays the stream as soon as it can be, and has the viewer follow its picture. */
export function usePlayback(
  viewer: Viewer,
  video: StageVideo,
  stream: Stream | null,
): StagePlayback {
  const [playback, setPlayback] = useState<StagePlayback>(NONE);
  const isLive = stream?.status !== 'ENDED';
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
        // Without a picture, and after its last frame, what happens is shown as it comes.
        follow(WITHOUT.has(state) ? null : picture);
        setPlayback((before) => {
          const hasBegun = before.hasBegun || state === 'playing';
          return { ...before, state, hasBegun, picture };
        });
      },
      onSilenced: () => setPlayback((before) => ({ ...before, isSilenced: true })),
      // What is over and is not there will not come.
      mayCome: () => viewer.snapshot.stream?.status !== 'ENDED',
    });
    return () => {
      stop();
      follow(null);
      setPlayback(NONE);
    };
  }, [viewer, video, url]);

  useEffect(() => {
    const onVolume = () => {
      if (!video.muted) setPlayback((before) => ({ ...before, isSilenced: false }));
    };
    video.addEventListener('volumechange', onVolume);
    return () => video.removeEventListener('volumechange', onVolume);
  }, [video]);

  return playback;
}
