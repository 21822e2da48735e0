import type uPlot from 'uplot';
import { countSeries } from '../charts/count-series.ts';
import { axisOf, COUNT_SCALE, type Color, countAxisOf, type PlotOptions } from '../charts/plot.tsx';
import { positionLabel } from './durations.ts';

/** Steps of the time axis, s. */
const STEPS_S = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];
const STEP_MIN_PX = 64;
/** Space above the chart for quiz numbers. */
const TOP_PX = 20;
const NUMBER_DISTANCE_MIN_PX = 18;

interface TimelineSettings {
  readonly color: Color;
  readonly durationS: number;
  /** Positions of the quizzes, s since the start of the show. */
  readonly quizzesS: readonly number[];
  /** Called with the hovered position, s since the start of the show; null: none. */
  readonly onHover: (positionS: number | null) => void;
}

/** A chart over the whole show with numbered quiz markers. */
export function timelineOptions(settings: TimelineSettings): PlotOptions {
  const { color, durationS, quizzesS, onHover } = settings;
  return {
    padding: [TOP_PX, 12, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      // The slider over the chart handles presses.
      bind: { mousedown: () => null, mousemove: (_, __, move) => (event) => move(event) },
    },
    scales: { x: { time: false, range: [0, durationS] }, y: COUNT_SCALE },
    axes: [
      {
        ...axisOf(color),
        incrs: STEPS_S,
        space: STEP_MIN_PX,
        values: (_, splits) => splits.map((positionS) => positionLabel(positionS * 1_000)),
      },
      countAxisOf(color),
    ],
    series: [{}, { ...countSeries(color), fill: () => color('--accent-soft') }],
    hooks: {
      draw: [(plot) => drawQuizzes(plot, quizzesS, color)],
      setCursor: [(plot) => onHover(hoveredS(plot))],
    },
  };
}

function hoveredS({ cursor, posToVal }: uPlot): number | null {
  const { left = -1 } = cursor;
  return left < 0 ? null : posToVal(left, 'x');
}

function drawQuizzes(plot: uPlot, quizzesS: readonly number[], color: Color): void {
  const { ctx, bbox } = plot;
  const px = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = color('--edge');
  ctx.fillStyle = color('--text');
  ctx.lineWidth = px;
  ctx.setLineDash([3 * px, 3 * px]);
  ctx.font = `600 ${12 * px}px ${color('--font')}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'bottom';
  let lastNumberX = Number.NEGATIVE_INFINITY;
  for (const [index, quizS] of quizzesS.entries()) {
    const x = plot.valToPos(quizS, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    // Skips numbers that would overlap.
    if (x - lastNumberX < NUMBER_DISTANCE_MIN_PX * px) continue;
    ctx.fillText(String(index + 1), x, bbox.top - 3 * px);
    lastNumberX = x;
  }
  ctx.restore();
}
