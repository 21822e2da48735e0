import { useEffect, useRef, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import type { CountAt } from './show-record.ts';

const HEIGHT = 140;
const SHOWN_MS = 30 * 60_000;
const DARK = matchMedia('(prefers-color-scheme: dark)');

/** The count of the last half hour as a line. What it says is beside it in words. */
export function AudienceChart({ counts }: { readonly counts: readonly CountAt[] }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const isDark = useSyncExternalStore(onScheme, () => DARK.matches);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart is drawn in the colours of its time
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = new uPlot(optionsFor(element), [[], []], element);
    chart.current = made;
    const watch = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [isDark]);
  useEffect(() => {
    const newestMs = counts.at(-1)?.atMs ?? 0;
    const shown = counts.filter(({ atMs }) => atMs > newestMs - SHOWN_MS);
    chart.current?.setData([
      shown.map(({ atMs }) => atMs / 1_000),
      shown.map(({ count }) => count),
    ]);
  }, [counts]);
  return (
    <div
      ref={place}
      role="img"
      aria-label="Viewers over the last half hour"
      className="w-full overflow-hidden"
    />
  );
}

function onScheme(then: () => void): () => void {
  DARK.addEventListener('change', then);
  return () => DARK.removeEventListener('change', then);
}

function optionsFor(element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name);
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${colour('--font')}`,
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    cursor: { show: false },
    legend: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] } },
    axes: [axis, { ...axis, size: 48 }],
    series: [{}, { stroke: colour('--accent'), width: 2, points: { show: false } }],
  };
}
