import { useEffect, useMemo, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport } from '../../protocol/report.ts';
import { Plot } from '../charts/plot.tsx';
import { timeOf } from '../shell/times.ts';
import { classes } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { audienceSeries, countAt } from './audience-series.ts';
import { placeOf } from './durations.ts';
import { PlaceSlider } from './place-slider.tsx';
import type { Recording } from './recording.ts';
import { beginOf } from './show-times.ts';
import { timelineOptions } from './timeline-options.ts';
import { useRecordingState } from './use-recording.ts';

const CHART_PX = 260;

interface TimelineProps {
  readonly report: ReadyReport;
  readonly recording: Recording;
}

/** The audience over the show, in step with the recording. */
export function Timeline({ report, recording }: TimelineProps) {
  const url = report.recording.hls_url;
  const { state, shownMs } = useRecordingState(recording);
  const isThere = url !== null && state !== 'absent';
  const [hoveredS, setHoveredS] = useState<number | null>(null);
  const { beginMs, lengthS, data, series, quizzesS } = useMemo(() => chartOf(report), [report]);
  const shownS =
    shownMs === null ? null : Math.min(Math.max(0, (shownMs - beginMs) / 1_000), lengthS);
  const lookedAtS = hoveredS ?? shownS;
  return (
    <Panel
      title="Audience"
      aside={
        <span className="text-quiet tabular-nums print:hidden">
          {lookedAtS === null
            ? 'The numbers are those of the quizzes.'
            : wordsOf(lookedAtS, countAt(series, lookedAtS), beginMs)}
        </span>
      }
    >
      <div
        className={classes(
          'grid items-start gap-4 *:min-w-0 print:block',
          isThere && 'lg:grid-cols-[2fr_3fr]',
        )}
      >
        {isThere && <Picture url={url} recording={recording} />}
        <Plot
          label={labelOf(report)}
          heightPx={CHART_PX}
          data={data}
          optionsOf={(colour) =>
            timelineOptions({ colour, lengthS, quizzesS, onHover: setHoveredS })
          }
        >
          {state === 'ready' && shownS !== null && (
            <PlaceSlider
              placeS={shownS}
              lengthS={lengthS}
              onMove={(placeS) => recording.seek(beginMs + placeS * 1_000)}
            />
          )}
        </Plot>
      </div>
      {!isThere && (
        <p className="text-quiet print:hidden">
          {url === null ? 'No recording was kept.' : 'There is no recording, or none any more.'}
        </p>
      )}
    </Panel>
  );
}

function chartOf(report: ReadyReport) {
  const beginMs = beginOf(report);
  const series = audienceSeries(report.audience, beginMs);
  const lastS = series.placesS.at(-1) ?? 0;
  const lengthS = Math.max(1, lastS, (report.ended - beginMs) / 1_000);
  const data: uPlot.AlignedData = [[...series.placesS], [...series.counts]];
  const quizzesS = report.quizzes.map(
    ({ toldInterval }) => (intervalStartMs(toldInterval) - beginMs) / 1_000,
  );
  return { beginMs, lengthS, data, series, quizzesS };
}

function wordsOf(placeS: number, count: number | null, beginMs: number): string {
  const watching = count === null ? 'not counted' : `${count.toLocaleString()} watching`;
  return `${placeOf(placeS * 1_000)} · ${timeOf(beginMs + placeS * 1_000)} · ${watching}`;
}

function labelOf({ peak, quizzes }: ReadyReport): string {
  const most = peak ? `, at most ${peak.count.toLocaleString()}` : '';
  return `Viewers over the show${most}; ${quizzes.length} quizzes are marked`;
}

interface PictureProps {
  readonly url: string;
  readonly recording: Recording;
}

function Picture({ url, recording }: PictureProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(
    () => (video.current ? recording.start(video.current, url) : undefined),
    [recording, url],
  );
  return (
    // biome-ignore lint/a11y/useMediaCaption: nobody has written down what is said in a show
    <video
      ref={video}
      controls
      playsInline
      aria-label="The recording of the show"
      className="aspect-video w-full rounded-lg bg-black object-contain print:hidden"
    />
  );
}
