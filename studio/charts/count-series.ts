import uPlot from 'uplot';
import type { Color } from './plot.tsx';

// A gap begins at its null, and not at the count before it.
const STEPS = uPlot.paths.stepped?.({ align: 1, alignGaps: 1 });

/** The line of a count. A count holds until the next one, so that jumps are steps and not ramps. */
export function countSeries(color: Color): uPlot.Series {
  return {
    stroke: () => color('--accent'),
    width: 2,
    points: { show: false },
    ...(STEPS && { paths: STEPS }),
  };
}
