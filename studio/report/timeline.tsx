import { useEffect, useMemo, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport } from '../../protocol/report.ts';
import { Plot } from '../charts/plot.tsx';
import { timeOf } from '../shell/times.ts';
import { classes } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { PlayerNotLoaded } from '../ui/player-not-loaded.tsx';
import { audienceSeries, countAt } from './audience-series.ts';
import { positionLabel } from './durations.ts';
import { PositionSlider } from './position-slider.tsx';
import type { Recording } from './recording.ts';
import { showStartMs } from './show-start.ts';
import { texts } from './texts.ts';
import { timelineOptions } from './timeline-options.ts';
import { canShow, useRecordingState } from './use-recording.ts';

const CHART_PX = 260;

/** The audience over the show, synchronized with the recording. */
export function Timeline({ report, recording }: { report: ReadyReport; recording: Recording }) {
  const url = report.recording.hls_url;
  const { state, shownMs } = useRecordingState(recording);
  const hasRecording = url !== null && canShow(state);
  const [hoveredS, setHoveredS] = useState<number | null>(null);
  const { startMs, durationS, data, series, quizzesS } = useMemo(() => chartOf(report), [report]);
  const shownS =
    shownMs === null ? null : Math.min(Math.max(0, (shownMs - startMs) / 1_000), durationS);
  const focusS = hoveredS ?? shownS;
  return (
    <Panel
      title={texts.timeline.title}
      aside={
        <span className="text-quiet tabular-nums print:hidden">
          {focusS === null
            ? texts.timeline.help
            : focusText(focusS, countAt(series, focusS), startMs)}
        </span>
      }
    >
      <div
        className={classes(
          'grid items-start gap-4 *:min-w-0 print:block',
          hasRecording && 'lg:grid-cols-[2fr_3fr]',
        )}
      >
        {hasRecording && <RecordingVideo url={url} recording={recording} />}
        <Plot
          label={chartLabel(report)}
          heightPx={CHART_PX}
          data={data}
          createOptions={(color) =>
            timelineOptions({ color, durationS, quizzesS, onHover: setHoveredS })
          }
        >
          {state === 'ready' && shownS !== null && (
            <PositionSlider
              positionS={shownS}
              durationS={durationS}
              onMove={(positionS) => recording.seek(startMs + positionS * 1_000)}
            />
          )}
        </Plot>
      </div>
      {state === 'not-loaded' && <PlayerNotLoaded />}
      {!hasRecording && state !== 'not-loaded' && (
        <p className="text-quiet print:hidden">
          {url === null ? texts.timeline.notRecorded : texts.timeline.recordingUnavailable}
        </p>
      )}
    </Panel>
  );
}

function chartOf(report: ReadyReport) {
  const startMs = showStartMs(report);
  const series = audienceSeries(report.audience, startMs);
  const lastS = series.positionsS.at(-1) ?? 0;
  const durationS = Math.max(1, lastS, (report.ended - startMs) / 1_000);
  const data: uPlot.AlignedData = [[...series.positionsS], [...series.counts]];
  const quizzesS = report.quizzes.map(
    ({ toldInterval }) => (intervalStartMs(toldInterval) - startMs) / 1_000,
  );
  return { startMs, durationS, data, series, quizzesS };
}

function focusText(positionS: number, count: number | null, startMs: number): string {
  const watching = count === null ? texts.timeline.noCount : texts.timeline.watching(count);
  return `${positionLabel(positionS * 1_000)} · ${timeOf(startMs + positionS * 1_000)} · ${watching}`;
}

function chartLabel({ peak, quizzes }: ReadyReport): string {
  return peak
    ? texts.timeline.chartWithPeak(peak.count, quizzes.length)
    : texts.timeline.chart(quizzes.length);
}

function RecordingVideo({ url, recording }: { url: string; recording: Recording }) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(
    () => (video.current ? recording.start(video.current, url) : undefined),
    [recording, url],
  );
  return (
    // biome-ignore lint/a11y/useMediaCaption: shows have no captions
    <video
      ref={video}
      controls
      playsInline
      aria-label={texts.timeline.recording}
      className="aspect-video w-full rounded-lg bg-black object-contain print:hidden"
    />
  );
}
