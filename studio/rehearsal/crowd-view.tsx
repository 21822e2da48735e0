import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { CrowdFigures, NewRehearsal, RehearsedQuiz } from '../../protocol/rehearsal.ts';
import { Badge } from '../ui/badge.tsx';
import { Panel } from '../ui/panel.tsx';
import { Loading } from '../ui/states.tsx';

interface CrowdViewProps {
  readonly crowd: CrowdFigures | null;
  readonly settings: NewRehearsal;
  /** They are there; else these are their last figures. */
  readonly isThere: boolean;
}

/** What the viewers of a rehearsal say of the service. */
export function CrowdView({ crowd, settings, isThere }: CrowdViewProps) {
  return (
    <Panel title="The viewers">
      {crowd ? (
        <>
          <Agreement crowd={crowd} />
          <Figures crowd={crowd} settings={settings} isThere={isThere} />
          <Quizzes quizzes={crowd.quizzes} />
        </>
      ) : isThere ? (
        <Loading what="The viewers are on their way" />
      ) : (
        <p className="text-quiet">They left before they said anything.</p>
      )}
    </Panel>
  );
}

/** Whether the service told them what they know themselves. */
function Agreement({ crowd: { checks, mismatch } }: { readonly crowd: CrowdFigures }) {
  if (mismatch !== null) {
    return (
      <p
        role="alert"
        className="flex gap-3 rounded-xl bg-bad-soft p-3 font-semibold wrap-anywhere text-bad"
      >
        <TriangleAlert className="size-5 shrink-0" aria-hidden="true" />A number does not fit:{' '}
        {mismatch}
      </p>
    );
  }
  return (
    <p className="flex gap-3 rounded-xl bg-good-soft p-3 font-semibold text-good">
      <CircleCheck className="size-5 shrink-0" aria-hidden="true" />
      <span>
        Counts, answers and winners are as the viewers know them:{' '}
        <span className="tabular-nums">{checks.toLocaleString()}</span> checks, all right.
      </span>
    </p>
  );
}

function Figures({ crowd, settings, isThere }: CrowdViewProps & { readonly crowd: CrowdFigures }) {
  const { acknowledged, refusedLate, unknown } = crowd.answers;
  const figures = [
    ['Here now', isThere ? crowd.present : 0, `of ${settings.viewers.toLocaleString()} viewers`],
    ['Answers that count', acknowledged, 'each acknowledged, and once'],
    ['Refused, too late', refusedLate, 'after the close'],
    ['Not known', unknown, 'every try was lost, or they left'],
    ['Requests', crowd.requests, 'answered by the service'],
    ['Lost on purpose', crowd.lost, 'and tried again'],
  ] as const;
  return (
    <dl className="grid grid-cols-2 gap-3 *:min-w-0 sm:grid-cols-3 lg:grid-cols-2 xl:grid-cols-3">
      {figures.map(([name, value, about]) => (
        <div key={name} className="grid content-start rounded-xl bg-raised p-3">
          <dt className="text-sm font-semibold">{name}</dt>
          <dd className="text-2xl font-bold tabular-nums">{value.toLocaleString()}</dd>
          <dd className="text-sm text-quiet">{about}</dd>
        </div>
      ))}
    </dl>
  );
}

function Quizzes({ quizzes }: { readonly quizzes: readonly RehearsedQuiz[] }) {
  if (quizzes.length === 0) return <p className="text-quiet">No quiz was asked yet.</p>;
  return (
    <ul aria-label="Quizzes of the rehearsal" className="grid gap-3">
      {quizzes.toReversed().map((quiz) => (
        <Quiz key={quiz.id} quiz={quiz} />
      ))}
    </ul>
  );
}

function Quiz({ quiz }: { readonly quiz: RehearsedQuiz }) {
  const { question, acknowledged, refusedLate, counted } = quiz;
  const others = counted === null ? 0 : counted - acknowledged;
  return (
    <li className="grid gap-1 border-t border-line pt-3">
      <span className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-semibold wrap-anywhere">{question}</span>
        <Badge look={counted === null ? 'accent' : 'plain'}>
          {counted === null ? 'no results yet' : 'results are out'}
        </Badge>
      </span>
      <span className="text-quiet tabular-nums">
        {acknowledged.toLocaleString()} acknowledged
        {counted !== null && ` · ${counted.toLocaleString()} counted`}
        {others > 0 && ` (${others.toLocaleString()} of others, such as you)`}
        {` · ${refusedLate.toLocaleString()} too late`}
      </span>
    </li>
  );
}
