import type { Viewer, ViewerQuiz } from '@fourbeat/viewer';
import { useRemainingMs, useSnapshot, useViewer } from '@fourbeat/viewer/react';

interface ShowProps {
  readonly baseUrl: string;
  readonly streamId: string;
  readonly viewerId: string;
}

/** The count, the quiz and the chat of a stream. It is joined while this is on the page. */
export function Show(props: ShowProps) {
  const viewer = useViewer(props);
  const snapshot = useSnapshot(viewer);
  if (!viewer || !snapshot) return null;
  const { state, trouble, count, quiz, lines, hearts } = snapshot;
  return (
    <main>
      <p>
        {count?.formatted ?? '–'} watching {state !== 'live' && `(${trouble?.message ?? state})`}
      </p>
      {quiz && <QuizCard viewer={viewer} shown={quiz} />}
      <button type="button" onClick={() => viewer.heart()}>
        ♥ {hearts}
      </button>
      <ul>
        {lines.map(({ id, name, text }) => (
          <li key={id}>
            <b>{name || 'Somebody'}</b> {text}
          </li>
        ))}
      </ul>
    </main>
  );
}

interface QuizCardProps {
  readonly viewer: Viewer;
  readonly shown: ViewerQuiz;
}

function QuizCard({ viewer, shown: { quiz, choice, outcome, results } }: QuizCardProps) {
  const remainingMs = useRemainingMs(viewer);
  return (
    <section aria-live="polite">
      <h2>{quiz.question}</h2>
      {quiz.order.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === choice}
          disabled={choice !== null || remainingMs === 0}
          onClick={() => viewer.answer(one).catch(console.warn)}
        >
          {one === choice && '✓ '}
          {one} {results && `${results.choices[one]?.percentage} %`}
        </button>
      ))}
      <p role="timer">{remainingMs > 0 && `${Math.ceil(remainingMs / 1_000)} s left`}</p>
      <p>{results ? `It is ${results.answer}.` : outcome}</p>
    </section>
  );
}
