import { Users } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import type { PresenterState } from '../../protocol/presenter.ts';
import { FullScreenButton } from './full-screen-button.tsx';
import type { PresentOptions } from './present-options.ts';
import type { PresentedShow } from './presented-show.ts';
import type { Scene } from './scene.ts';
import { useAwake } from './use-awake.ts';
import { useFit } from './use-fit.ts';
import { usePresented } from './use-presented.ts';
import { WallQuiz } from './wall-quiz.tsx';

/** A short question has the whole wall. */
const WALL_MOST = 1.6;

interface WallProps {
  readonly show: PresentedShow;
  readonly options: PresentOptions;
}

/** The whole screen of a wall, or what lies over a picture. */
export function Wall({ show, options }: WallProps) {
  const { state, scene, isSilent, refusal } = usePresented(show);
  useAwake();
  return (
    <main className="wall">
      {state && scene && <Shown state={state} scene={scene} options={options} />}
      {refusal !== null && <Refused status={refusal} hasKey={options.key !== null} />}
      {isSilent && <span className="wall-dot" />}
      {!options.isOverlay && <FullScreenButton />}
    </main>
  );
}

interface ShownProps {
  readonly state: PresenterState;
  readonly scene: Scene;
  readonly options: PresentOptions;
}

function Shown({ state, scene, options: { isOverlay, hasLiveBars } }: ShownProps) {
  // Over a picture there is something to see while something goes on, and nothing else.
  if (isOverlay && (scene.kind === 'title' || scene.kind === 'over')) return null;
  return (
    <>
      <Fitted kind={scene.kind} most={isOverlay ? 1 : WALL_MOST}>
        {scene.kind === 'quiz' ? (
          <WallQuiz {...scene} hasLiveBars={hasLiveBars} />
        ) : (
          <Words {...wordsOf(scene, state)} />
        )}
      </Fitted>
      <footer className="wall-foot">
        <span className="wall-title">{scene.kind === 'title' ? '' : state.stream.title}</span>
        {scene.kind === 'quiz' && <Answered count={scene.quiz.answered} />}
        {state.count !== null && (
          <span className="wall-count">
            <Users aria-hidden="true" />
            {state.count.toLocaleString()}
            <span className="wall-unit"> watching</span>
          </span>
        )}
      </footer>
    </>
  );
}

interface FittedProps {
  readonly kind: string;
  /** How large it may become where there is room. */
  readonly most: number;
  readonly children: ReactNode;
}

/** A scene, as large as it has room. */
function Fitted({ kind, most, children }: FittedProps) {
  const place = useRef<HTMLElement>(null);
  useFit(place, most);
  return (
    <section ref={place} className={`scene scene--${kind}`}>
      {children}
    </section>
  );
}

function Answered({ count }: { readonly count: number }) {
  return (
    <span className="wall-answered">
      <b>{count.toLocaleString()}</b> {count === 1 ? 'answer' : 'answers'}
    </span>
  );
}

interface WordsProps {
  readonly large: string;
  readonly below: string;
  readonly isNumber?: boolean;
}

function Words({ large, below, isNumber = false }: WordsProps) {
  return (
    <>
      <h1 className={isNumber ? 'scene-number' : 'scene-words'}>{large}</h1>
      {below && <p className="scene-below">{below}</p>}
    </>
  );
}

function wordsOf(scene: Exclude<Scene, { kind: 'quiz' }>, { stream }: PresenterState): WordsProps {
  if (scene.kind === 'over') return { large: 'Thank you!', below: 'The show is over.' };
  if (scene.kind === 'title') {
    return { large: stream.title, below: stream.status === 'CREATED' ? 'It begins soon.' : '' };
  }
  const { count } = scene;
  if (count === null) return { large: 'Who has won?', below: 'We are counting …' };
  if (count === 0) return { large: 'No winners', below: 'Nobody had every answer right.' };
  return {
    large: count.toLocaleString(),
    below: count === 1 ? 'winner!' : 'winners!',
    isNumber: true,
  };
}

/** For who sets the wall up: it never had a show to hide this behind. */
function Refused({ status, hasKey }: { readonly status: number; readonly hasKey: boolean }) {
  return (
    <Fitted kind="refused" most={1}>
      <h1 className="scene-words">There is nothing to see here</h1>
      <p className="scene-below">
        {status === 404
          ? 'There is no such show in your studio.'
          : hasKey
            ? 'This link is not good any more. Make a new one on the show’s page in the studio.'
            : 'Sign in to the studio in this browser, or open the link that the show’s page makes.'}
      </p>
    </Fitted>
  );
}
