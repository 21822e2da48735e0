import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport } from '../../protocol/report.ts';
import { dateTimeOf, timeOf } from '../shell/times.ts';
import { durationLabel, positionLabel } from './durations.ts';
import { showStartMs } from './show-start.ts';
import { texts } from './texts.ts';

/** Smaller values have one decimal. */
const ROUNDED_FROM = 100;

type Figure = readonly [name: string, value: string, description: string];

/** The key figures: audience and times. */
export function Figures({ report }: { readonly report: ReadyReport }) {
  return (
    <section aria-label={texts.figures.label} className="grid gap-3">
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
  if (started === null) return texts.figures.neverStarted(dateTimeOf(ended));
  return texts.figures.dates(dateTimeOf(started), dateTimeOf(ended));
}

function figuresOf(report: ReadyReport): readonly Figure[] {
  const { peak, average, uniqueViewers, minutesWatched, ended } = report;
  const startMs = showStartMs(report);
  const peakMs = peak && intervalStartMs(peak.interval);
  const peakDescription =
    peakMs === null
      ? texts.figures.noViewers
      : texts.figures.peakHelp(timeOf(peakMs), positionLabel(peakMs - startMs));
  return [
    [texts.figures.peak, peak ? peak.count.toLocaleString() : texts.units.unknown, peakDescription],
    [texts.figures.average, roundOf(average), texts.figures.averageHelp],
    [texts.figures.unique, uniqueViewers.toLocaleString(), texts.figures.uniqueHelp],
    [texts.figures.minutes, roundOf(minutesWatched), texts.figures.minutesHelp],
    [texts.figures.duration, durationLabel(ended - startMs), texts.figures.durationHelp],
  ];
}

function roundOf(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < ROUNDED_FROM ? 1 : 0 });
}
