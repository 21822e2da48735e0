import { expect, test } from 'bun:test';
import uPlot from 'uplot';
import { countSeries } from './count-series.ts';

type Point = readonly [x: number, y: number];

/** The Path2D of a browser, which records its points. */
class RecordingPath {
  readonly points: Point[] = [];

  moveTo(...point: Point): void {
    this.points.push(point);
  }

  lineTo(...point: Point): void {
    this.points.push(point);
  }
}

/** Draws counts at seconds as uPlot does, on a canvas of 1 px for each second and viewer. */
function draw(timesS: readonly number[], counts: readonly number[]) {
  const series = {
    ...countSeries(() => ''),
    scale: 'y',
    pxRound: (px: number) => px,
    gaps: () => [],
  };
  const chart = {
    mode: 1,
    series: [{ scale: 'x' }, series],
    _data: [timesS, counts],
    data: [timesS, counts],
    scales: { x: { ori: 0, dir: 1 }, y: { ori: 1, dir: 1 } },
    bbox: { left: 0, top: 0, width: 1_000, height: 1_000 },
    bands: [],
    valToPosH: (value: number) => value,
    valToPosV: (value: number) => value,
  };
  const paths = series.paths ?? uPlot.paths.linear?.();
  const drawn = paths?.(chart as never, 1, 0, timesS.length - 1) as unknown as {
    readonly stroke: RecordingPath;
  };
  return drawn.stroke.points;
}

Object.assign(globalThis, { Path2D: RecordingPath });

test('a chart of counts draws a jump as a step and not as a ramp', () => {
  const points = draw([0, 60, 61], [0, 2, 3]);
  const ramps = points.slice(1).filter(([x, y], index) => {
    const [beforeX = x, beforeY = y] = points[index] ?? [];
    return x !== beforeX && y !== beforeY;
  });
  expect(ramps).toEqual([]);
  expect(points).toContainEqual([60, 0]);
  expect(points).toContainEqual([60, 2]);
});
