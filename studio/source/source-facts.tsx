import type { Ingest } from '../../protocol/ingest.ts';
import { Badge } from '../ui/badge.tsx';
import { isTooSlow, sourceWarnings } from './source-warnings.ts';
import { texts } from './texts.ts';

const { facts } = texts;

/** Whether a source is connected, and its health. */
export function SourceFacts({ source }: Pick<Ingest, 'source'>) {
  if (!source) {
    return (
      <p>
        <Badge>{facts.none}</Badge> <span className="text-quiet">{facts.waiting}</span>
      </p>
    );
  }
  const { health } = source;
  const isSlow = isTooSlow(health);
  return (
    <div className="grid gap-3">
      <p>
        <Badge variant={isSlow ? 'bad' : 'good'}>{isSlow ? facts.tooSlow : facts.receiving}</Badge>{' '}
        <span className="text-quiet">{facts.kinds[source.kind]}</span>
      </p>
      <SourceWarnings source={source} />
      {health && (
        <dl className="grid grid-cols-[repeat(auto-fit,minmax(7rem,1fr))] gap-3">
          <Fact name={facts.resolution} value={sizeOf(health)} />
          <Fact name={facts.bitrate} value={formatted(health.bitrate, facts.megabits)} />
          <Fact
            name={facts.framesPerSecond}
            value={formatted(health.fps, (number) => number.toFixed(1))}
          />
          <Fact name={facts.encoder} value={formatted(health.speed, facts.encoderSpeed)} />
          <Fact name={facts.droppedFrames} value={formatted(health.dropped, String)} />
        </dl>
      )}
    </div>
  );
}

/** What is wrong with a connected source. */
export function SourceWarnings({ source }: { readonly source: NonNullable<Ingest['source']> }) {
  const warnings = sourceWarnings(source);
  if (warnings.length === 0) return null;
  return (
    <ul aria-label={facts.warnings} className="grid gap-1">
      {warnings.map((warning) => (
        <li key={warning} className="font-semibold text-bad">
          {warning}
        </li>
      ))}
    </ul>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div className="rounded-lg bg-raised px-3 py-2">
      <dt className="text-sm text-quiet">{name}</dt>
      <dd className="font-semibold tabular-nums">{value}</dd>
    </div>
  );
}

const formatted = (value: number | null, format: (value: number) => string) =>
  value === null ? facts.unknown : format(value);

function sizeOf({ width, height }: { width: number | null; height: number | null }): string {
  return width === null || height === null ? facts.unknown : facts.size(width, height);
}
