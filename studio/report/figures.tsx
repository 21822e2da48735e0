import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport } from '../../protocol/report.ts';
import { dateTimeOf, timeOf } from '../shell/times.ts';
import { durationLabel, positionLabel } from './durations.ts';
import { showStartMs } from './show-start.ts';

/** Smaller values have one decimal. */
const ROUNDED_FROM = 100;

type Figure = readonly [name: string, value: string, description: string];

/** The key figures: audience and times. */
export function Figures({ report }: { readonly report: ReadyReport }) {
  return (
    <section aria-label="Figures" className="grid gap-3">
      <p className="text-quiet">{datesSentence(report)}</p>
      <dl className="grid grid-cols-2 gap-3 *:min-w-0 sm:grid-cols-3 xl:grid-cols-5 print:grid-cols-3">
        {figuresOf(report).map(([name, value, description]) => (
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
  if (started === null) return `Ended ${dateTimeOf(ended)}. Never started.`;
  return `Started ${dateTimeOf(started)}, ended ${dateTimeOf(ended)}.`;
}

function figuresOf(report: ReadyReport): readonly Figure[] {
  const { peak, average, uniqueViewers, minutesWatched, ended } = report;
  const startMs = showStartMs(report);
  const peakMs = peak && intervalStartMs(peak.interval);
  const peakDescription =
    peakMs === null ? 'No viewers' : `at ${timeOf(peakMs)}, ${positionLabel(peakMs - startMs)} in`;
  return [
    ['Peak viewers', peak ? peak.count.toLocaleString() : '–', peakDescription],
    ['Average viewers', roundOf(average), 'over the whole show'],
    ['Unique viewers', uniqueViewers.toLocaleString(), 'opened the show'],
    ['Minutes watched', roundOf(minutesWatched), 'total of all viewers'],
    ['Duration', durationLabel(ended - startMs), 'from start to end'],
  ];
}

function roundOf(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < ROUNDED_FROM ? 1 : 0 });
}
