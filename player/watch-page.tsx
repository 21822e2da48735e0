import { useEffect, useState } from 'react';
import type { Snapshot, Viewer } from '../sdk/viewer.ts';
import { AudiencePanel } from './audience/audience-panel.tsx';
import { useHeartCount } from './audience/heart-count.ts';
import { HeartOverlay } from './audience/heart-overlay.tsx';
import { QuizOverlay } from './quiz/quiz-overlay.tsx';
import { Stage } from './stage/stage.tsx';
import type { StageVideo } from './stage/stage-video.ts';

interface WatchPageProps {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  readonly video: StageVideo;
  /** Whether the page has no audience panel, as in an embedded page. */
  readonly isBare: boolean;
  /** Whether the playback stats are open at first. */
  readonly hasStats: boolean;
}

/** The whole page: the stage with its overlays, and the audience panel. */
export function WatchPage({ viewer, snapshot, video, isBare, hasStats }: WatchPageProps) {
  const hearts = useHeartCount(viewer, snapshot);
  const [isFilled, setIsFilled] = useFilledWindow();
  return (
    <main className={isBare ? 'watch watch--bare' : 'watch'}>
      <h1 className="unseen">Watch the show</h1>
      <Stage
        viewer={viewer}
        snapshot={snapshot}
        video={video}
        hasCount={isBare}
        hasStats={hasStats}
        isFilled={isFilled}
        // Without the audience panel, the stage has the whole window anyway.
        onFill={isBare ? null : setIsFilled}
      >
        <HeartOverlay hearts={snapshot.hearts} count={hearts} />
        <QuizOverlay viewer={viewer} snapshot={snapshot} />
      </Stage>
      {!isBare && (
        <section className="watch-audience" aria-label="Audience" inert={isFilled}>
          {/* A show that is unknown, or not known yet, has no chat. */}
          {snapshot.stream && <AudiencePanel viewer={viewer} snapshot={snapshot} hearts={hearts} />}
        </section>
      )}
    </main>
  );
}

/** Whether the stage fills the window, in place of full screen. Escape ends it. */
function useFilledWindow(): [isFilled: boolean, setIsFilled: (isFilled: boolean) => void] {
  const [isFilled, setIsFilled] = useState(false);
  useEffect(() => {
    if (!isFilled) return;
    const onKeyDown = ({ key, defaultPrevented }: KeyboardEvent) => {
      // Overlays and menus handle Escape first.
      if (key === 'Escape' && !defaultPrevented) setIsFilled(false);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isFilled]);
  return [isFilled, setIsFilled];
}
