import { intervalStartMs } from '../../protocol/interval.ts';
import type { ReadyReport } from '../../protocol/report.ts';
import { dateOf, timeOf } from '../shell/times.ts';
import { lengthOf, placeOf } from './durations.ts';
import { beginOf } from './show-times.ts';

/** Below this a tenth says something. */
const FEW = 100;

interface Figure {
  readonly name: string;
  readonly value: string;
  /** More of it, in small. */
  readonly about: string;
}

/** How many there were, and for how long. */
export function Figures({ report }: { readonly report: ReadyReport }) {
  return (
    <section aria-label="Figures" className="grid gap-3">
      <p className="text-quiet">{whenOf(report)}</p>
      <dl className="grid grid-cols-2 gap-3 *:min-w-0 sm:grid-cols-3 xl:grid-cols-5 print:grid-cols-3">
        {figuresOf(report).map(({ name, value, about }) => (
          <div
            key={name}
            className="grid content-start rounded-2xl border border-line bg-card p-4 break-inside-avoid last:col-span-2 sm:last:col-span-1"
          >
            <dt className="text-sm font-semibold">{name}</dt>
            <dd className="text-2xl font-bold wrap-anywhere tabular-nums sm:text-3xl">{value}</dd>
            <dd className="text-sm text-quiet">{about}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function whenOf({ started, ended }: ReadyReport): string {
  if (started === null) return `Ended ${dateOf(ended)}, and was never started.`;
  return `Began ${dateOf(started)}, ended ${dateOf(ended)}.`;
}

function figuresOf(report: ReadyReport): readonly Figure[] {
  const { peak, average, uniqueViewers, minutesWatched, ended } = report;
  const beginMs = beginOf(report);
  const peakMs = peak && intervalStartMs(peak.interval);
  return [
    {
      name: 'Most at once',
      value: peak ? peak.count.toLocaleString() : '–',
      about:
        peakMs === null
          ? 'Nobody was counted'
          : `at ${timeOf(peakMs)}, ${placeOf(peakMs - beginMs)} in`,
    },
    {
      name: 'On average',
      value: roundOf(average),
      about: 'over the whole show',
    },
    {
      name: 'Different viewers',
      value: uniqueViewers.toLocaleString(),
      about: 'who opened the show',
    },
    {
      name: 'Minutes watched',
      value: roundOf(minutesWatched),
      about: 'by all of them together',
    },
    { name: 'Length', value: lengthOf(ended - beginMs), about: 'from its begin to its end' },
  ];
}

function roundOf(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < FEW ? 1 : 0 });
}
