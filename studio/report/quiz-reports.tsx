import { Film } from 'lucide-react';
import { useMemo, useState } from 'react';
import uPlot from 'uplot';
import { intervalStartMs } from '../../protocol/interval.ts';
import { type AnswerTimes, LAST_MOMENT_MS, type QuizReport } from '../../protocol/report.ts';
import {
  axisOf,
  COUNT_SCALE,
  type Colour,
  countAxisOf,
  Plot,
  type PlotOptions,
} from '../charts/plot.tsx';
import { Button } from '../ui/button.tsx';
import { ChoiceBars } from '../ui/choice-bars.tsx';
import { Panel } from '../ui/panel.tsx';
import { answerTimeBars, answerTimesLabel } from './answer-times.ts';
import { secondsOf } from './durations.ts';
import { percentOf } from './percent.ts';
import type { Recording } from './recording.ts';

/** So many are shown at first: a show may have hundreds. */
const FIRST = 20;
const CHART_PX = 110;

interface QuizReportsProps {
  readonly quizzes: readonly QuizReport[];
  /** Null: there is none. */
  readonly recording: Recording | null;
}

/** What was answered, and how soon. */
export function QuizReports({ quizzes, recording }: QuizReportsProps) {
  const [most, setMost] = useState(FIRST);
  const more = quizzes.length - most;
  return (
    <Panel title="Quizzes">
      {quizzes.length === 0 && <p className="text-quiet">No quiz was sent.</p>}
      <ol className="grid gap-6 print-parts">
        {quizzes.slice(0, most).map((quiz, place) => (
          <OneQuiz key={quiz.id} quiz={quiz} number={place + 1} recording={recording} />
        ))}
      </ol>
      {more > 0 && (
        <Button onPress={() => setMost(most + FIRST)}>
          {more === 1 ? 'Show one more' : `Show more of the other ${more.toLocaleString()}`}
        </Button>
      )}
    </Panel>
  );
}

interface OneQuizProps {
  readonly quiz: QuizReport;
  readonly number: number;
  readonly recording: Recording | null;
}

function OneQuiz({ quiz, number, recording }: OneQuizProps) {
  const see = (of: Recording) => {
    of.seek(intervalStartMs(quiz.toldInterval));
    of.show();
  };
  return (
    <li className="grid gap-3 border-t border-line pt-4 break-inside-avoid first:border-0 first:pt-0">
      <div className="flex items-start justify-between gap-3">
        <h3 className="min-w-0 self-center text-lg font-semibold break-words">
          <span className="text-quiet tabular-nums">{number}.</span> {quiz.question}
        </h3>
        {recording && (
          <span className="print:hidden">
            <Button
              look="quiet"
              size="icon"
              onPress={() => see(recording)}
              aria-label={`See quiz ${number} in the recording`}
            >
              <Film aria-hidden="true" />
            </Button>
          </span>
        )}
      </div>
      <div className="grid items-start gap-4 *:min-w-0 sm:grid-cols-2">
        <ChoiceBars choices={quiz.order} answer={quiz.answer} counts={quiz.counts} />
        {quiz.answerTimes && <Times times={quiz.answerTimes} />}
      </div>
      <p className="text-quiet tabular-nums">{wordsOf(quiz)}</p>
    </li>
  );
}

function wordsOf({ answered, correct, answerTimes, lastMomentShare }: QuizReport): string {
  if (!answerTimes) return 'Nobody answered.';
  return [
    `${answered.toLocaleString()} answered, ${percentOf(correct / answered)} of them right`,
    `half within ${secondsOf(answerTimes.median)}`,
    `nine of ten within ${secondsOf(answerTimes.p90)}`,
    `${percentOf(lastMomentShare)} in the last ${secondsOf(LAST_MOMENT_MS)}`,
  ].join(' · ');
}

function Times({ times: { histogram } }: { readonly times: AnswerTimes }) {
  const data = useMemo<uPlot.AlignedData>(() => [...answerTimeBars(histogram)], [histogram]);
  const endS = (histogram.binMs * histogram.counts.length) / 1_000;
  return (
    <figure className="grid gap-1">
      <figcaption className="text-sm text-quiet">When answers came</figcaption>
      <Plot
        label={answerTimesLabel(histogram)}
        heightPx={CHART_PX}
        data={data}
        optionsOf={(colour) => optionsOf(colour, endS)}
      />
    </figure>
  );
}

/** A bar is as wide as its bin, and begins where that does. */
const BARS = uPlot.paths.bars?.({ size: [1, Number.POSITIVE_INFINITY], align: 1, gap: 2 });

function optionsOf(colour: Colour, endS: number): PlotOptions {
  return {
    cursor: { show: false },
    legend: { show: false },
    scales: { x: { time: false, range: [0, endS] }, y: COUNT_SCALE },
    axes: [
      {
        ...axisOf(colour),
        grid: { show: false },
        values: (_, splits) => splits.map((s) => `${s} s`),
      },
      countAxisOf(colour),
    ],
    series: [
      {},
      {
        fill: () => colour('--accent'),
        width: 0,
        points: { show: false },
        ...(BARS && { paths: BARS }),
      },
    ],
  };
}
