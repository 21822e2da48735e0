import { useMemo } from 'react';
import type uPlot from 'uplot';
import {
  axisOf,
  COUNT_SCALE,
  type Colour,
  countAxisOf,
  Plot,
  type PlotOptions,
} from '../charts/plot.tsx';
import type { CountAt } from './show-record.ts';

const HEIGHT_PX = 140;
const SHOWN_MS = 30 * 60_000;
/** Seconds between two times below the line. */
const TIMES_S = [60, 120, 300, 600];
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** The count of the last half hour as a line. What it says is beside it in words. */
export function AudienceChart({ counts }: { readonly counts: readonly CountAt[] }) {
  const data = useMemo<uPlot.AlignedData>(() => {
    const newestMs = counts.at(-1)?.atMs ?? 0;
    const shown = counts.filter(({ atMs }) => atMs > newestMs - SHOWN_MS);
    return [shown.map(({ atMs }) => atMs / 1_000), shown.map(({ count }) => count)];
  }, [counts]);
  return (
    <Plot
      label="Viewers over the last half hour"
      heightPx={HEIGHT_PX}
      data={data}
      optionsOf={optionsOf}
    />
  );
}

/** Minutes, in one line: there is no room for the day. */
function timeAxisOf(colour: Colour): uPlot.Axis {
  return {
    ...axisOf(colour),
    incrs: TIMES_S,
    values: (_, splits) => splits.map((atS) => TIME.format(atS * 1_000)),
  };
}

function optionsOf(colour: Colour): PlotOptions {
  return {
    cursor: { show: false },
    legend: { show: false },
    scales: { y: COUNT_SCALE },
    axes: [timeAxisOf(colour), countAxisOf(colour)],
    series: [{}, { stroke: () => colour('--accent'), width: 2, points: { show: false } }],
  };
}
