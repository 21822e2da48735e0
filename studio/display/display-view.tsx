import { Users } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Confetti } from '../../player/quiz/confetti.tsx';
import { useCues } from '../../player/sound/sounds.ts';
import type { PresenterState } from '../../protocol/presenter.ts';
import { viewerUrl } from '../streams/share-links.ts';
import { useExternalStore } from '../ui/external-store.ts';
import { QrCode } from '../ui/qr-code.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { DisplayControls } from './display-controls.tsx';
import type { DisplayOptions } from './display-options.ts';
import { DisplayQuiz } from './display-quiz.tsx';
import type { DisplayShow, DisplaySnapshot } from './display-show.ts';
import { DisplayWinners } from './display-winners.tsx';
import { cueMomentOf, type Scene } from './scene.ts';
import { texts } from './texts.ts';
import { useFit } from './use-fit.ts';

const TICK_MS = 100;
/** Largest scale of a scene on a full screen. */
const SCALE_MAX = 1.6;

/** The whole page: a full screen or an overlay. */
export function DisplayView({ show, options }: { show: DisplayShow; options: DisplayOptions }) {
  const { state, scene, isStale, refusal } = useDisplaySnapshot(show);
  useScreenWakeLock();
  useCues(cueMomentOf(scene));
  return (
    <main className="display">
      {state && scene && <SceneView state={state} scene={scene} options={options} />}
      {refusal !== null && <Refused status={refusal} hasKey={options.key !== null} />}
      {isStale && <span className="display-dot" />}
      {!options.isOverlay && <DisplayControls />}
    </main>
  );
}

interface SceneViewProps {
  readonly state: PresenterState;
  readonly scene: Scene;
  readonly options: DisplayOptions;
}

function SceneView({ state, scene, options: { isOverlay, hasLiveBars } }: SceneViewProps) {
  // An overlay is empty between quizzes.
  if (isOverlay && (scene.kind === 'title' || scene.kind === 'over')) return null;
  return (
    <>
      <Fitted kind={scene.kind} maxScale={isOverlay ? 1 : SCALE_MAX}>
        <SceneContent scene={scene} state={state} hasLiveBars={hasLiveBars} />
        {scene.kind === 'title' && state.stream.status !== 'ENDED' && (
          <JoinLink streamId={state.stream.id} />
        )}
      </Fitted>
      <footer className="display-foot">
        <bdi className="display-title">{scene.kind === 'title' ? '' : state.stream.title}</bdi>
        {scene.kind === 'quiz' && <Answered count={scene.quiz.answered} />}
        {state.count !== null && (
          <span className="display-count">
            <Users />
            {state.count.toLocaleString()}
            <span className="display-unit"> {texts.watching}</span>
          </span>
        )}
      </footer>
    </>
  );
}

interface SceneContentProps extends Pick<SceneViewProps, 'scene' | 'state'> {
  readonly hasLiveBars: boolean;
}

function SceneContent({ scene, state, hasLiveBars }: SceneContentProps) {
  if (scene.kind === 'quiz') return <DisplayQuiz {...scene} hasLiveBars={hasLiveBars} />;
  if (scene.kind === 'winners' && scene.count && scene.first.length > 0) {
    return (
      <>
        <Confetti />
        <DisplayWinners count={scene.count} winners={scene.first} />
      </>
    );
  }
  return <Headline {...headlineOf(scene, state)} />;
}

interface FittedProps {
  readonly kind: string;
  readonly maxScale: number;
  readonly children: ReactNode;
}

/** A scene, as large as fits. */
function Fitted({ kind, maxScale, children }: FittedProps) {
  const container = useRef<HTMLElement>(null);
  useFit(container, maxScale);
  return (
    <section ref={container} className={`scene scene--${kind}`}>
      {children}
    </section>
  );
}

function Answered({ count }: { readonly count: number }) {
  return (
    <span className="display-answered">
      <TextTemplate text={texts.answers(count)}>
        <b>{count.toLocaleString()}</b>
      </TextTemplate>
    </span>
  );
}

interface HeadlineProps {
  readonly title: string;
  readonly subtitle: string;
  readonly isNumber?: boolean;
}

function Headline({ title, subtitle, isNumber = false }: HeadlineProps) {
  return (
    <>
      <h1 className={isNumber ? 'scene-number' : 'scene-words'} dir="auto">
        {title}
      </h1>
      {subtitle && <p className="scene-below">{subtitle}</p>}
    </>
  );
}

/** How the audience opens the viewer page. */
function JoinLink({ streamId }: { readonly streamId: string }) {
  const url = viewerUrl(location.origin, streamId);
  return (
    <>
      <QrCode text={url} label={texts.join.qrCode} className="join-code" />
      <p className="join-link">
        <TextTemplate text={texts.join.address}>
          <bdi className="join-address">{url.replace(/^https?:\/\//, '')}</bdi>
        </TextTemplate>
      </p>
    </>
  );
}

const { headlines } = texts;

function headlineOf(
  scene: Exclude<Scene, { kind: 'quiz' }>,
  { stream }: PresenterState,
): HeadlineProps {
  if (scene.kind === 'over') return { title: headlines.thanks, subtitle: headlines.ended };
  if (scene.kind === 'title') {
    return {
      title: stream.title,
      subtitle: stream.status === 'CREATED' ? headlines.startingSoon : '',
    };
  }
  const { count } = scene;
  if (count === null) return { title: headlines.whoWon, subtitle: headlines.counting };
  if (count === 0) return { title: headlines.noWinners, subtitle: headlines.noWinnersHelp };
  return {
    title: count.toLocaleString(),
    subtitle: headlines.winners(count),
    isNumber: true,
  };
}

/** Help for setup. Appears only before the first state, so it never covers a show. */
function Refused({ status, hasKey }: { readonly status: number; readonly hasKey: boolean }) {
  return (
    <Fitted kind="refused" maxScale={1}>
      <h1 className="scene-words">{texts.refused.title}</h1>
      <p className="scene-below">
        {status === 404
          ? texts.refused.unknownShow
          : hasKey
            ? texts.refused.invalidLink
            : texts.refused.signedOut}
      </p>
    </Fitted>
  );
}

/** Follows the show while the display is mounted. */
function useDisplaySnapshot(show: DisplayShow): DisplaySnapshot {
  useEffect(() => {
    const stop = show.start();
    const timer = setInterval(() => show.tick(), TICK_MS);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [show]);
  return useExternalStore(show);
}

/** Keeps the screen on, where the browser allows it. */
function useScreenWakeLock(): void {
  useEffect(() => {
    // The browser releases the lock while the page is hidden.
    const request = () => {
      if (document.visibilityState === 'visible') {
        navigator.wakeLock?.request('screen').catch(() => {});
      }
    };
    request();
    document.addEventListener('visibilitychange', request);
    return () => document.removeEventListener('visibilitychange', request);
  }, []);
}
