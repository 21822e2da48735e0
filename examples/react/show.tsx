import type { Viewer, ViewerQuiz } from '@fourbeat/viewer';
import { useRemainingMs, useSnapshot, useViewer } from '@fourbeat/viewer/react';

interface ShowProps {
  readonly baseUrl: string;
  readonly streamId: string;
  readonly viewerId: string;
}

/** View count, quiz and chat of a stream. The viewer joins on mount and leaves on unmount. */
export function Show(props: ShowProps) {
  const viewer = useViewer(props);
  const snapshot = useSnapshot(viewer);
  if (!viewer || !snapshot) return null;
  const { state, error, count, quiz, messages, hearts } = snapshot;
  return (
    <main>
      <p>
        {count?.formatted ?? '–'} watching {state !== 'live' && `(${error?.message ?? state})`}
      </p>
      {quiz && <QuizCard viewer={viewer} shown={quiz} />}
      <button type="button" onClick={() => viewer.sendHeart()}>
        ♥ {hearts}
      </button>
      <ul>
        {messages.map(({ id, name, text }) => (
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
      {quiz.order.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === choice}
          disabled={choice !== null || remainingMs === 0}
          onClick={() => viewer.answer(option).catch(console.warn)}
        >
          {option === choice && '✓ '}
          {option} {results && `${results.choices[option]?.percentage} %`}
        </button>
      ))}
      <p role="timer">{remainingMs > 0 && `${Math.ceil(remainingMs / 1_000)} s left`}</p>
      <p>{results ? `It is ${results.answer}.` : outcome}</p>
    </section>
  );
}
