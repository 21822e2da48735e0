import { intervalStartMs } from '../../protocol/interval.ts';
import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';
import { ChoiceBars } from '../ui/choice-bars.tsx';
import { Panel } from '../ui/panel.tsx';
import { quantity } from '../ui/quantity.ts';

/** The current or last quiz with live answer counts, which only the producer sees. */
export function OnScreenPanel({ state }: { readonly state: LiveState }) {
  const { quiz, tally, now } = state;
  if (!quiz) {
    return (
      <Panel title="On screen">
        <p className="text-quiet">No quiz sent yet.</p>
      </Panel>
    );
  }
  const counts = tally ?? quiz.counts ?? {};
  const answered = Object.values(counts).reduce((sum, { count }) => sum + count, 0);
  return (
    <Panel title="On screen" aside={<QuizState quiz={quiz} nowMs={now} />}>
      <p dir="auto" className="text-lg font-semibold wrap-anywhere">
        {quiz.question}
      </p>
      <ChoiceBars choices={quiz.choices} answer={quiz.answer} counts={counts} />
      <p className="text-quiet tabular-nums">
        {quantity(answered, 'answer')}
        {quiz.state === 'open' && state.count !== null && ` of ${quantity(state.count, 'viewer')}`}
      </p>
    </Panel>
  );
}

function QuizState({ quiz, nowMs }: { readonly quiz: StudioQuiz; readonly nowMs: number }) {
  if (quiz.state === 'open' && quiz.closeInterval !== null) {
    const leftS = Math.max(0, Math.ceil((intervalStartMs(quiz.closeInterval) - nowMs) / 1_000));
    return <Badge variant="live">Open, {leftS} s</Badge>;
  }
  if (quiz.state === 'closed') return <Badge variant="accent">Closed, results hidden</Badge>;
  return <Badge variant="good">Results shown</Badge>;
}
