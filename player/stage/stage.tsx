import { type ReactNode, useState } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { Badge } from './badge.tsx';
import { Controls } from './controls.tsx';
import { Facts } from './facts.tsx';
import { Notice } from './notice.tsx';
import { situationOf } from './situation.ts';
import type { StageVideo } from './stage-video.ts';
import { usePlayback } from './use-playback.ts';

interface StageProps {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  readonly video: StageVideo;
  /** Whether nothing else on the page says how many are watching. */
  readonly hasCount: boolean;
  /** Whether it begins with the facts about picture and feed. */
  readonly hasFacts: boolean;
  /** Whether it has the whole window. */
  readonly isFilled: boolean;
  /** null: there is nothing else in the window. */
  readonly onFill: ((isFilled: boolean) => void) | null;
  /** What lies over the picture, in full screen too. */
  readonly children: ReactNode;
}

/** The picture, its controls, and words where there is none. */
export function Stage({
  viewer,
  snapshot,
  video,
  hasCount,
  hasFacts,
  isFilled,
  onFill,
  children,
}: StageProps) {
  const { state, hasBegun, picture, isSilenced } = usePlayback(viewer, video, snapshot.stream);
  const [showsFacts, setShowsFacts] = useState(hasFacts);
  const situation = situationOf(snapshot, state);
  return (
    <section
      id="stage"
      className={isFilled ? 'stage stage--filled' : 'stage'}
      aria-label="The show"
    >
      <Controls
        video={video}
        isShown={hasBegun || state === 'press-play'}
        isLive={snapshot.stream?.status !== 'ENDED'}
        isFilled={isFilled}
        onFill={onFill}
      />
      <Notice situation={situation} waiting={snapshot.count?.formatted ?? null}>
        {situation === 'over' && (
          <button type="button" className="action" onClick={() => playFromStart(video)}>
            Watch again
          </button>
        )}
        {situation === 'unloaded' && (
          <button type="button" className="action" onClick={() => location.reload()}>
            Load the page again
          </button>
        )}
        {situation === 'press-play' && (
          <button type="button" className="action" onClick={() => play(video)}>
            Play
          </button>
        )}
      </Notice>
      <Badge snapshot={snapshot} situation={situation} hasCount={hasCount} />
      {isSilenced && state === 'playing' && (
        <button type="button" className="action stage-sound" onClick={() => soundOn(video)}>
          Turn the sound on
        </button>
      )}
      {showsFacts && (
        <Facts
          viewer={viewer}
          video={video}
          picture={picture}
          onClose={() => setShowsFacts(false)}
        />
      )}
      {children}
    </section>
  );
}

/** The button goes away with this: the keyboard goes on at the control that does the same. */
function soundOn(video: StageVideo): void {
  video.muted = false;
  if (video.volume === 0) video.volume = 1;
  video.parentElement?.querySelector<HTMLElement>('media-mute-button')?.focus();
}

/** One that is refused (a phone that saves power), or that a load replaces, needs no word. */
function play(video: StageVideo): void {
  video.play().catch(() => {});
}

function playFromStart(video: StageVideo): void {
  video.currentTime = video.seekable.length > 0 ? video.seekable.start(0) : 0;
  play(video);
  video.parentElement?.querySelector<HTMLElement>('media-play-button')?.focus();
}
