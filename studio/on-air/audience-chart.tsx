import { useMemo } from 'react';
import type uPlot from 'uplot';
import { countSeries } from '../charts/count-series.ts';
import {
  axisOf,
  COUNT_SCALE,
  type Color,
  countAxisOf,
  Plot,
  type PlotOptions,
} from '../charts/plot.tsx';
import type { CountAt } from './show-log.ts';
import { texts } from './texts.ts';

const HEIGHT_PX = 140;
const SHOWN_MS = 30 * 60_000;
/** Steps of the time axis, in seconds. */
const TIME_STEPS_S = [60, 120, 300, 600];
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** The audience of the last half hour as a line chart. */
export function AudienceChart({ counts }: { readonly counts: readonly CountAt[] }) {
  const data = useMemo<uPlot.AlignedData>(() => {
    const newestMs = counts.at(-1)?.atMs ?? 0;
    const shown = counts.filter(({ atMs }) => atMs > newestMs - SHOWN_MS);
    return [shown.map(({ atMs }) => atMs / 1_000), shown.map(({ count }) => count)];
  }, [counts]);
  return (
    <Plot
      label={texts.audience.chartLabel}
      heightPx={HEIGHT_PX}
      data={data}
      createOptions={createOptions}
    />
  );
}

function createOptions(color: Color): PlotOptions {
  const timeAxis: uPlot.Axis = {
    ...axisOf(color),
    incrs: TIME_STEPS_S,
    values: (_, splits) => splits.map((atS) => TIME.format(atS * 1_000)),
  };
  return {
    cursor: { show: false },
    legend: { show: false },
    scales: { y: COUNT_SCALE },
    axes: [timeAxis, countAxisOf(color)],
    series: [{}, countSeries(color)],
  };
}
