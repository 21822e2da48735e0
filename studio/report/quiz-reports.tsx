import { Film } from 'lucide-react';
import { useMemo, useState } from 'react';
import uPlot from 'uplot';
import { intervalStartMs } from '../../protocol/interval.ts';
import { LAST_MOMENT_MS } from '../../protocol/limits.ts';
import type { AnswerTimes, QuizReport } from '../../protocol/report.ts';
import {
  axisOf,
  COUNT_SCALE,
  type Color,
  countAxisOf,
  Plot,
  type PlotOptions,
} from '../charts/plot.tsx';
import { Button } from '../ui/button.tsx';
import { ChoiceBars } from '../ui/choice-bars.tsx';
import { Panel } from '../ui/panel.tsx';
import { answerTimeBars, answerTimesLabel } from './answer-times.ts';
import { secondsLabel } from './durations.ts';
import { percentLabel } from './percent.ts';
import type { Recording } from './recording.ts';
import { texts } from './texts.ts';

/** Quizzes shown at first and added by each press: a show may have hundreds. */
const PAGE_SIZE = 20;
const CHART_PX = 110;

interface QuizReportsProps {
  readonly quizzes: readonly QuizReport[];
  readonly recording: Recording | null;
}

/** The answers to each quiz and their times. */
export function QuizReports({ quizzes, recording }: QuizReportsProps) {
  const [visibleCount, setVisibleCount] = useState(PAGE_SIZE);
  const more = quizzes.length - visibleCount;
  return (
    <Panel title={texts.quizzes.title}>
      {quizzes.length === 0 && <p className="text-quiet">{texts.quizzes.empty}</p>}
      <ol className="grid gap-6 print-parts">
        {quizzes.slice(0, visibleCount).map((quiz, index) => (
          <QuizItem key={quiz.id} quiz={quiz} number={index + 1} recording={recording} />
        ))}
      </ol>
      {more > 0 && (
        <Button onPress={() => setVisibleCount(visibleCount + PAGE_SIZE)}>
          {texts.quizzes.showMore(more)}
        </Button>
      )}
    </Panel>
  );
}

interface QuizItemProps {
  readonly quiz: QuizReport;
  readonly number: number;
  readonly recording: Recording | null;
}

function QuizItem({ quiz, number, recording }: QuizItemProps) {
  const showInRecording = (target: Recording) => {
    target.seek(intervalStartMs(quiz.toldInterval));
    target.show();
  };
  return (
    <li className="grid gap-3 border-t border-line pt-4 break-inside-avoid first:border-0 first:pt-0">
      <div className="flex items-start justify-between gap-3">
        <h3 className="min-w-0 self-center text-lg font-semibold wrap-anywhere">
          <span className="text-quiet tabular-nums">{number}.</span> <bdi>{quiz.question}</bdi>
        </h3>
        {recording && (
          <span className="print:hidden">
            <Button
              variant="quiet"
              onPress={() => showInRecording(recording)}
              aria-label={texts.quizzes.showInRecording(number)}
              icon={<Film />}
            />
          </span>
        )}
      </div>
      <div className="grid items-start gap-4 *:min-w-0 sm:grid-cols-2">
        <ChoiceBars choices={quiz.order} answer={quiz.answer} counts={quiz.counts} />
        {quiz.answerTimes && <AnswerTimesChart times={quiz.answerTimes} />}
      </div>
      <p className="text-quiet tabular-nums">{summaryOf(quiz)}</p>
    </li>
  );
}

function summaryOf({ answered, correct, answerTimes, lastMomentShare }: QuizReport): string {
  if (!answerTimes) return texts.quizzes.noAnswers;
  return [
    texts.quizzes.answered(answered, percentLabel(correct / answered)),
    texts.quizzes.halfWithin(secondsLabel(answerTimes.median)),
    texts.quizzes.mostWithin(secondsLabel(answerTimes.p90)),
    texts.quizzes.lastMoment(percentLabel(lastMomentShare), secondsLabel(LAST_MOMENT_MS)),
  ].join(' · ');
}

function AnswerTimesChart({ times: { histogram } }: { readonly times: AnswerTimes }) {
  const data = useMemo<uPlot.AlignedData>(() => [...answerTimeBars(histogram)], [histogram]);
  const endS = (histogram.binMs * histogram.counts.length) / 1_000;
  return (
    <figure className="grid gap-1">
      <figcaption className="text-sm text-quiet">{texts.quizzes.answerTimes}</figcaption>
      <Plot
        label={answerTimesLabel(histogram)}
        heightPx={CHART_PX}
        data={data}
        createOptions={(color) => createOptions(color, endS)}
      />
    </figure>
  );
}

/** Each bar spans its bin. */
const BARS = uPlot.paths.bars?.({ size: [1, Number.POSITIVE_INFINITY], align: 1, gap: 2 });

function createOptions(color: Color, endS: number): PlotOptions {
  return {
    cursor: { show: false },
    legend: { show: false },
    scales: { x: { time: false, range: [0, endS] }, y: COUNT_SCALE },
    axes: [
      {
        ...axisOf(color),
        grid: { show: false },
        values: (_, splits) => splits.map(texts.units.seconds),
      },
      countAxisOf(color),
    ],
    series: [
      {},
      {
        fill: () => color('--accent'),
        width: 0,
        points: { show: false },
        ...(BARS && { paths: BARS }),
      },
    ],
  };
}
