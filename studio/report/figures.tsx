import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport } from '../../protocol/report.ts';
import { dateOf, timeOf } from '../shell/times.ts';
import { durationLabel, positionLabel } from './durations.ts';
import { showStartMs } from './show-start.ts';

/** Smaller values have one decimal. */
const ROUNDED_FROM = 100;

interface Figure {
  readonly name: string;
  readonly value: string;
  /** Explanation. */
  readonly description: string;
}

/** The key figures: audience and times. */
export function Figures({ report }: { readonly report: ReadyReport }) {
  return (
    <section aria-label="Figures" className="grid gap-3">
      <p className="text-quiet">{datesSentence(report)}</p>
      <dl className="grid grid-cols-2 gap-3 *:min-w-0 sm:grid-cols-3 xl:grid-cols-5 print:grid-cols-3">
        {figuresOf(report).map(({ name, value, description }) => (
          <div
            key={name}
            className="grid content-start rounded-2xl border border-line bg-card p-4 break-inside-avoid last:col-span-2 sm:last:col-span-1"
          >
            <dt className="text-sm font-semibold">{name}</dt>
            <dd className="text-2xl font-bold wrap-anywhere tabular-nums sm:text-3xl">{value}</dd>
            <dd className="text-sm text-quiet">{description}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function datesSentence({ started, ended }: ReadyReport): string {
  if (started === null) return `Ended ${dateOf(ended)}. Never started.`;
  return `Started ${dateOf(started)}, ended ${dateOf(ended)}.`;
}

function figuresOf(report: ReadyReport): readonly Figure[] {
  const { peak, average, uniqueViewers, minutesWatched, ended } = report;
  const startMs = showStartMs(report);
  const peakMs = peak && intervalStartMs(peak.interval);
  return [
    {
      name: 'Peak viewers',
      value: peak ? peak.count.toLocaleString() : '–',
      description:
        peakMs === null
          ? 'No viewers'
          : `at ${timeOf(peakMs)}, ${positionLabel(peakMs - startMs)} in`,
    },
    {
      name: 'Average viewers',
      value: roundOf(average),
      description: 'over the whole show',
    },
    {
      name: 'Unique viewers',
      value: uniqueViewers.toLocaleString(),
      description: 'opened the show',
    },
    {
      name: 'Minutes watched',
      value: roundOf(minutesWatched),
      description: 'total of all viewers',
    },
    { name: 'Duration', value: durationLabel(ended - startMs), description: 'from start to end' },
  ];
}

function roundOf(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < ROUNDED_FROM ? 1 : 0 });
}
