import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { CrowdFigures, NewRehearsal, RehearsedQuiz } from '../../protocol/rehearsal.ts';
import { Badge } from '../ui/badge.tsx';
import { Panel } from '../ui/panel.tsx';
import { Loading } from '../ui/states.tsx';
import { TextTemplate } from '../ui/text-template.tsx';
import { texts } from './texts.ts';

interface CrowdViewProps {
  readonly crowd: CrowdFigures | null;
  readonly settings: NewRehearsal;
  /** Whether the rehearsal runs; after it, `crowd` has the last figures. */
  readonly isRunning: boolean;
}

/** What the simulated viewers of a rehearsal measured. */
export function CrowdView({ crowd, settings, isRunning }: CrowdViewProps) {
  return (
    <Panel title={texts.crowd.title}>
      {crowd ? (
        <>
          <CheckResult crowd={crowd} />
          <Figures crowd={crowd} settings={settings} isRunning={isRunning} />
          <Quizzes quizzes={crowd.quizzes} />
        </>
      ) : isRunning ? (
        <Loading label={texts.crowd.waiting} />
      ) : (
        <p className="text-quiet">{texts.crowd.none}</p>
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
        {texts.crowd.mismatch(mismatch)}
      </p>
    );
  }
  return (
    <p className="flex gap-3 rounded-xl bg-good-soft p-3 font-semibold text-good">
      <CircleCheck className="size-5 shrink-0" />
      <span>
        <TextTemplate text={texts.crowd.passed}>
          <span className="tabular-nums">{checks.toLocaleString()}</span>
        </TextTemplate>
      </span>
    </p>
  );
}

type FiguresProps = CrowdViewProps & { readonly crowd: CrowdFigures };

function Figures({ crowd, settings, isRunning }: FiguresProps) {
  const { acknowledged, refusedLate, unknown } = crowd.answers;
  const figures = [
    [
      texts.crowd.connected,
      isRunning ? crowd.present : 0,
      texts.crowd.connectedHelp(settings.viewers),
    ],
    [texts.crowd.accepted, acknowledged, texts.crowd.acceptedHelp],
    [texts.crowd.refusedLate, refusedLate, texts.crowd.refusedLateHelp],
    [texts.crowd.unknown, unknown, texts.crowd.unknownHelp],
    [texts.crowd.requests, crowd.requests, texts.crowd.requestsHelp],
    [texts.crowd.lost, crowd.lost, texts.crowd.lostHelp],
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
  if (quizzes.length === 0) return <p className="text-quiet">{texts.quizzes.empty}</p>;
  return (
    <ul aria-label={texts.quizzes.label} className="grid gap-3">
      {quizzes.toReversed().map((quiz) => (
        <QuizItem key={quiz.id} quiz={quiz} />
      ))}
    </ul>
  );
}

function QuizItem({ quiz }: { readonly quiz: RehearsedQuiz }) {
  const { question, counted } = quiz;
  return (
    <li className="grid gap-1 border-t border-line pt-3">
      <span className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-semibold wrap-anywhere">{question}</span>
        <Badge variant={counted === null ? 'accent' : 'plain'}>
          {counted === null ? texts.quizzes.noResults : texts.quizzes.resultsShown}
        </Badge>
      </span>
      <span className="text-quiet tabular-nums">{summaryOf(quiz)}</span>
    </li>
  );
}

function summaryOf({ acknowledged, refusedLate, counted }: RehearsedQuiz): string {
  const others = counted === null ? 0 : counted - acknowledged;
  return [
    texts.quizzes.acknowledged(acknowledged),
    ...(counted === null ? [] : [countedLabel(counted, others)]),
    texts.quizzes.tooLate(refusedLate),
  ].join(' · ');
}

function countedLabel(counted: number, others: number): string {
  return others > 0
    ? texts.quizzes.countedWithOthers(counted, others)
    : texts.quizzes.counted(counted);
}
