import type uPlot from 'uplot';
import {
  axisOf,
  COUNT_SCALE,
  type Colour,
  countAxisOf,
  type PlotOptions,
} from '../charts/plot.tsx';
import { placeOf } from './durations.ts';

/** Steps of the axis, s: round for people who count in minutes and hours. */
const STEPS_S = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400];
const STEP_LEAST_PX = 64;
/** Above the lines: the numbers of quizzes. */
const TOP_PX = 20;
const NUMBER_LEAST_PX = 18;

interface TimelineLook {
  readonly colour: Colour;
  readonly lengthS: number;
  /** Where quizzes were told, s since the begin. */
  readonly quizzesS: readonly number[];
  /** Told where the pointer is, s since the begin; null: not over the lines. */
  readonly onHover: (placeS: number | null) => void;
}

/** A chart over the whole show, on whose lines quizzes are marked by their numbers. */
export function timelineOptions({ colour, lengthS, quizzesS, onHover }: TimelineLook): PlotOptions {
  return {
    padding: [TOP_PX, 12, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      // What lies over the lines is pressed, and not they.
      bind: { mousedown: () => null, mousemove: (_, __, move) => (event) => move(event) },
    },
    scales: { x: { time: false, range: [0, lengthS] }, y: COUNT_SCALE },
    axes: [
      {
        ...axisOf(colour),
        incrs: STEPS_S,
        space: STEP_LEAST_PX,
        values: (_, splits) => splits.map((placeS) => placeOf(placeS * 1_000)),
      },
      countAxisOf(colour),
    ],
    series: [
      {},
      {
        stroke: () => colour('--accent'),
        fill: () => colour('--accent-soft'),
        width: 2,
        points: { show: false },
      },
    ],
    hooks: {
      draw: [(plot) => drawQuizzes(plot, quizzesS, colour)],
      setCursor: [(plot) => onHover(hoveredS(plot))],
    },
  };
}

function hoveredS({ cursor, posToVal }: uPlot): number | null {
  const { left = -1 } = cursor;
  return left < 0 ? null : posToVal(left, 'x');
}

function drawQuizzes(plot: uPlot, quizzesS: readonly number[], colour: Colour): void {
  const { ctx, bbox } = plot;
  const px = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour('--edge');
  ctx.fillStyle = colour('--text');
  ctx.lineWidth = px;
  ctx.setLineDash([3 * px, 3 * px]);
  ctx.font = `600 ${12 * px}px ${colour('--font')}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'bottom';
  let numberedTo = Number.NEGATIVE_INFINITY;
  for (const [place, quizS] of quizzesS.entries()) {
    const x = plot.valToPos(quizS, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    // Numbers that would lie on each other are left out.
    if (x - numberedTo < NUMBER_LEAST_PX * px) continue;
    ctx.fillText(String(place + 1), x, bbox.top - 3 * px);
    numberedTo = x;
  }
  ctx.restore();
}
