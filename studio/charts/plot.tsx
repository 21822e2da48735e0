import { type ReactNode, useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import uPlot from 'uplot';

/** Paper has another width, of which no observer is told. */
const PAPER = matchMedia('print');
/** Nobody prints white on black. */
const DARK = matchMedia('screen and (prefers-color-scheme: dark)');

/** So far outside of the screen it is about to be seen. */
const NEAR = '400px';

export type PlotOptions = Omit<uPlot.Options, 'width' | 'height'>;

/** A colour of the page by the name of its token, as it is at that moment. */
export type Colour = (name: `--${string}`) => string;

interface PlotProps {
  /** What is drawn, in words. */
  readonly label: string;
  readonly heightPx: number;
  readonly data: uPlot.AlignedData;
  /** Told once: how it is drawn. What it hands to uPlot as a function may change its mind later. */
  readonly optionsOf: (colour: Colour) => PlotOptions;
  /** Lies over the area of the lines, edge by edge. */
  readonly children?: ReactNode;
}

/** A chart, as wide as there is room, in the colours of day, night and paper. */
export function Plot({ label, heightPx, data, optionsOf, children }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<uPlot | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart is made once; what changes later has an effect of its own
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const colour: Colour = (name) => getComputedStyle(element).getPropertyValue(name);
    const size = () => ({ width: Math.max(1, element.clientWidth), height: heightPx });
    let made: uPlot | null = null;
    const make = () => {
      made ??= new uPlot({ ...optionsOf(colour), ...size() }, data, element);
      setChart(made);
    };
    const fit = () => made?.setSize(size());
    const stopWatching = [
      whenNear(element, make),
      whenResized(element, fit),
      // Paths too: bars keep their colour.
      whenChanged(DARK, () => made?.redraw()),
      whenChanged(PAPER, () => {
        make();
        fit();
      }),
    ];
    return () => {
      for (const stop of stopWatching) stop();
      setChart(null);
      made?.destroy();
    };
  }, [heightPx]);
  useEffect(() => chart?.setData(data), [chart, data]);
  useEffect(() => {
    const canvas = chart?.ctx.canvas;
    canvas?.setAttribute('role', 'img');
    canvas?.setAttribute('aria-label', label);
  }, [chart, label]);
  return (
    <div ref={place} className="w-full min-w-0 overflow-hidden" style={{ minHeight: heightPx }}>
      {chart && children && createPortal(children, chart.over)}
    </div>
  );
}

/** A page may have dozens of charts: each is made when it is about to be seen. */
function whenNear(element: HTMLElement, then: () => void): () => void {
  const watch = new IntersectionObserver(
    (seen) => seen.some(({ isIntersecting }) => isIntersecting) && then(),
    { rootMargin: NEAR },
  );
  watch.observe(element);
  return () => watch.disconnect();
}

function whenResized(element: HTMLElement, then: () => void): () => void {
  const watch = new ResizeObserver(then);
  watch.observe(element);
  return () => watch.disconnect();
}

function whenChanged(query: MediaQueryList, then: () => void): () => void {
  query.addEventListener('change', then);
  return () => query.removeEventListener('change', then);
}

/** Room for one line of small type. */
const AXIS_PX = 26;

/** An axis in the colours of the page. */
export function axisOf(colour: Colour): uPlot.Axis {
  return {
    stroke: () => colour('--quiet'),
    grid: { stroke: () => colour('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${colour('--font')}`,
    size: AXIS_PX,
  };
}

const WHOLE = Array.from({ length: 8 }, (_, zeros) =>
  [1, 2, 5].map((digit) => digit * 10 ** zeros),
).flat();
const COUNTS_PX = 48;
const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact' });

/** An axis of how many there were. */
export function countAxisOf(colour: Colour): uPlot.Axis {
  return {
    ...axisOf(colour),
    size: COUNTS_PX,
    incrs: WHOLE,
    values: (_, splits) => splits.map((count) => COMPACT.format(count)),
  };
}

/** From none to a little over the most. */
export const COUNT_SCALE: uPlot.Scale = {
  range: (_, __, most) => [0, Math.max(4, most * 1.1)],
};
