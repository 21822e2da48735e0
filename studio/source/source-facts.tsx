import type { Ingest } from '../../protocol/ingest.ts';
import { Badge } from '../ui/badge.tsx';
import { isTooSlow, sourceWarnings } from './source-warnings.ts';

const KINDS = {
  rtmp: 'RTMP',
  srt: 'SRT',
  // Apps may use it as well as browsers.
  websocket: 'WebSocket',
  'media-play': 'fourbeat media play',
} as const;

/** Whether a source is connected, and its health. */
export function SourceFacts({ source }: Pick<Ingest, 'source'>) {
  if (!source) {
    return (
      <p>
        <Badge>No video</Badge> <span className="text-quiet">Waiting for a source.</span>
      </p>
    );
  }
  const { health } = source;
  const isSlow = isTooSlow(health);
  return (
    <div className="grid gap-3">
      <p>
        <Badge variant={isSlow ? 'bad' : 'good'}>{isSlow ? 'Too slow' : 'Receiving video'}</Badge>{' '}
        <span className="text-quiet">via {KINDS[source.kind]}</span>
      </p>
      <SourceWarnings source={source} />
      {health && (
        <dl className="grid grid-cols-2 gap-3 sm:grid-cols-5">
          <Fact name="Resolution" value={sizeOf(health)} />
          <Fact
            name="Bitrate"
            value={formatted(health.bitrate, (number) => `${(number / 1e6).toFixed(1)} Mbit/s`)}
          />
          <Fact
            name="Frames per second"
            value={formatted(health.fps, (number) => number.toFixed(1))}
          />
          <Fact
            name="Encoder"
            value={formatted(health.speed, (number) => `${number.toFixed(2)}×`)}
          />
          <Fact name="Dropped frames" value={formatted(health.dropped, String)} />
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
    <ul aria-label="Warnings" className="grid gap-1">
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
  value === null ? '–' : format(value);

function sizeOf({ width, height }: { width: number | null; height: number | null }): string {
  return width === null || height === null ? '–' : `${width} × ${height}`;
}
