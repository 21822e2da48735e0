import { type ReactNode, useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import uPlot from 'uplot';

/** Printing changes the width without notifying observers. */
const PRINT = matchMedia('print');
const DARK = matchMedia('screen and (prefers-color-scheme: dark)');

/** Charts are created when they are this close to the viewport. */
const ROOT_MARGIN = '400px';

export type PlotOptions = Omit<uPlot.Options, 'width' | 'height'>;

/** The current value of a color token of the page. */
export type Color = (name: `--${string}`) => string;

interface PlotProps {
  /** Accessible name. */
  readonly label: string;
  readonly heightPx: number;
  readonly data: uPlot.AlignedData;
  /** Called once, for a new chart. Options that are functions are evaluated at each draw. */
  readonly createOptions: (color: Color) => PlotOptions;
  /** Overlay over the plotting area. */
  readonly children?: ReactNode;
}

/** A uPlot chart that fills its container, in the colors of the light, dark or print theme. */
export function Plot({ label, heightPx, data, createOptions, children }: PlotProps) {
  const container = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<uPlot | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is created once; data and label have their own effects
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    const color: Color = (name) => getComputedStyle(element).getPropertyValue(name);
    const size = () => ({ width: Math.max(1, element.clientWidth), height: heightPx });
    let plot: uPlot | null = null;
    const create = () => {
      plot ??= new uPlot({ ...createOptions(color), ...size() }, data, element);
      setChart(plot);
    };
    const fit = () => plot?.setSize(size());
    const unsubscribers = [
      onNearViewport(element, create),
      onResize(element, fit),
      // Redraws paths too: bars cache their color.
      onMediaChange(DARK, () => plot?.redraw()),
      onMediaChange(PRINT, () => {
        create();
        fit();
      }),
    ];
    return () => {
      for (const stop of unsubscribers) stop();
      setChart(null);
      plot?.destroy();
    };
  }, [heightPx]);
  useEffect(() => chart?.setData(data), [chart, data]);
  useEffect(() => {
    const canvas = chart?.ctx.canvas;
    canvas?.setAttribute('role', 'img');
    canvas?.setAttribute('aria-label', label);
  }, [chart, label]);
  return (
    <div ref={container} className="w-full min-w-0 overflow-hidden" style={{ minHeight: heightPx }}>
      {chart && children && createPortal(children, chart.over)}
    </div>
  );
}

/** Creates charts lazily: a report may have dozens. */
function onNearViewport(element: HTMLElement, callback: () => void): () => void {
  const observer = new IntersectionObserver(
    (entries) => entries.some(({ isIntersecting }) => isIntersecting) && callback(),
    { rootMargin: ROOT_MARGIN },
  );
  observer.observe(element);
  return () => observer.disconnect();
}

function onResize(element: HTMLElement, callback: () => void): () => void {
  const observer = new ResizeObserver(callback);
  observer.observe(element);
  return () => observer.disconnect();
}

function onMediaChange(query: MediaQueryList, callback: () => void): () => void {
  query.addEventListener('change', callback);
  return () => query.removeEventListener('change', callback);
}

/** Height of one line of labels. */
const AXIS_HEIGHT_PX = 26;

export function axisOf(color: Color): uPlot.Axis {
  return {
    stroke: () => color('--quiet'),
    grid: { stroke: () => color('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${color('--font')}`,
    size: AXIS_HEIGHT_PX,
  };
}

const INTEGER_STEPS = Array.from({ length: 8 }, (_, zeros) =>
  [1, 2, 5].map((digit) => digit * 10 ** zeros),
).flat();
const COUNT_AXIS_WIDTH_PX = 48;
const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact' });

export function countAxisOf(color: Color): uPlot.Axis {
  return {
    ...axisOf(color),
    size: COUNT_AXIS_WIDTH_PX,
    incrs: INTEGER_STEPS,
    values: (_, splits) => splits.map((count) => COMPACT.format(count)),
  };
}

/** The axis of counts: from 0 to 10% above the maximum, and at least to 4. */
export const COUNT_SCALE: uPlot.Scale = {
  range: (_, __, max) => [0, Math.max(4, max * 1.1)],
};
