import type { Snapshot, Viewer } from '../sdk/viewer.ts';
import { Crowd } from './crowd/crowd.tsx';
import { FlyingHearts } from './crowd/flying-hearts.tsx';
import { useHearts } from './crowd/use-hearts.ts';
import { QuizOverlay } from './quiz/quiz-overlay.tsx';
import { Stage } from './stage/stage.tsx';
import type { StageVideo } from './stage/stage-video.ts';
import { useFilledWindow } from './stage/use-filled-window.ts';

interface WatchPageProps {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  readonly video: StageVideo;
  /** Without what people say, as in somebody else's page. */
  readonly isBare: boolean;
  /** With the facts about picture and feed. */
  readonly hasFacts: boolean;
}

/** The whole page: the picture with what lies over it, and beside it the people. */
export function WatchPage({ viewer, snapshot, video, isBare, hasFacts }: WatchPageProps) {
  const hearts = useHearts(viewer, snapshot);
  const [isFilled, setIsFilled] = useFilledWindow();
  return (
    <main className={isBare ? 'watch watch--bare' : 'watch'}>
      <h1 className="unseen">Watch the show</h1>
      <Stage
        viewer={viewer}
        snapshot={snapshot}
        video={video}
        hasCount={isBare}
        hasFacts={hasFacts}
        isFilled={isFilled}
        // Without what people say the picture has all of the window anyway.
        onFill={isBare ? null : setIsFilled}
      >
        <FlyingHearts snapshot={snapshot} count={hearts} />
        <QuizOverlay viewer={viewer} snapshot={snapshot} />
      </Stage>
      {!isBare && (
        <section className="watch-crowd" aria-label="The audience" inert={isFilled}>
          {/* Nobody talks in a show that is not there, or that is not known yet. */}
          {snapshot.stream && <Crowd viewer={viewer} snapshot={snapshot} hearts={hearts} />}
        </section>
      )}
    </main>
  );
}
