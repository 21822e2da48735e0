import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { CrowdFigures, NewRehearsal, RehearsedQuiz } from '../../protocol/rehearsal.ts';
import { Badge } from '../ui/badge.tsx';
import { Panel } from '../ui/panel.tsx';
import { Loading } from '../ui/states.tsx';

interface CrowdViewProps {
  readonly crowd: CrowdFigures | null;
  readonly settings: NewRehearsal;
  /** Whether the rehearsal runs; after it, `crowd` has the last figures. */
  readonly isRunning: boolean;
}

/** What the simulated viewers of a rehearsal measured. */
export function CrowdView({ crowd, settings, isRunning }: CrowdViewProps) {
  return (
    <Panel title="Simulated viewers">
      {crowd ? (
        <>
          <CheckResult crowd={crowd} />
          <Figures crowd={crowd} settings={settings} isRunning={isRunning} />
          <Quizzes quizzes={crowd.quizzes} />
        </>
      ) : isRunning ? (
        <Loading label="Waiting for the viewers" />
      ) : (
        <p className="text-quiet">The viewers sent no figures. Start another rehearsal.</p>
      )}
    </Panel>
  );
}

/** Whether the service's data matches what the viewers know. */
function CheckResult({ crowd: { checks, mismatch } }: { readonly crowd: CrowdFigures }) {
  if (mismatch !== null) {
    return (
      <p
        role="alert"
        className="flex gap-3 rounded-xl bg-bad-soft p-3 font-semibold wrap-anywhere text-bad"
      >
        <TriangleAlert className="size-5 shrink-0" />
        Mismatch: {mismatch}
      </p>
    );
  }
  return (
    <p className="flex gap-3 rounded-xl bg-good-soft p-3 font-semibold text-good">
      <CircleCheck className="size-5 shrink-0" />
      <span>
        Counts, answers and winners match what the viewers saw:{' '}
        <span className="tabular-nums">{checks.toLocaleString()}</span> checks passed.
      </span>
    </p>
  );
}

type FiguresProps = CrowdViewProps & { readonly crowd: CrowdFigures };

function Figures({ crowd, settings, isRunning }: FiguresProps) {
  const { acknowledged, refusedLate, unknown } = crowd.answers;
  const figures = [
    ['Connected', isRunning ? crowd.present : 0, `of ${settings.viewers.toLocaleString()} viewers`],
    ['Accepted answers', acknowledged, 'each acknowledged once'],
    ['Late answers refused', refusedLate, 'after the close'],
    ['Unknown outcome', unknown, 'every attempt was lost, or the viewer left'],
    ['Requests', crowd.requests, 'answered by the service'],
    ['Lost requests', crowd.lost, 'simulated losses, retried'],
  ] as const;
  return (
    <dl className="grid grid-cols-2 gap-3 *:min-w-0 sm:grid-cols-3 lg:grid-cols-2 xl:grid-cols-3">
      {figures.map(([name, value, description]) => (
        <div key={name} className="grid content-start rounded-xl bg-raised p-3">
          <dt className="text-sm font-semibold">{name}</dt>
          <dd className="text-2xl font-bold tabular-nums">{value.toLocaleString()}</dd>
          <dd className="text-sm text-quiet">{description}</dd>
        </div>
      ))}
    </dl>
  );
}

function Quizzes({ quizzes }: { readonly quizzes: readonly RehearsedQuiz[] }) {
  if (quizzes.length === 0) return <p className="text-quiet">No quizzes sent yet.</p>;
  return (
    <ul aria-label="Quizzes of the rehearsal" className="grid gap-3">
      {quizzes.toReversed().map((quiz) => (
        <QuizItem key={quiz.id} quiz={quiz} />
      ))}
    </ul>
  );
}

function QuizItem({ quiz }: { readonly quiz: RehearsedQuiz }) {
  const { question, acknowledged, refusedLate, counted } = quiz;
  const others = counted === null ? 0 : counted - acknowledged;
  return (
    <li className="grid gap-1 border-t border-line pt-3">
      <span className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-semibold wrap-anywhere">{question}</span>
        <Badge variant={counted === null ? 'accent' : 'plain'}>
          {counted === null ? 'No results yet' : 'Results shown'}
        </Badge>
      </span>
      <span className="text-quiet tabular-nums">
        {acknowledged.toLocaleString()} acknowledged
        {counted !== null && ` · ${counted.toLocaleString()} counted`}
        {others > 0 && ` (${others.toLocaleString()} from others, such as you)`}
        {` · ${refusedLate.toLocaleString()} too late`}
      </span>
    </li>
  );
}
