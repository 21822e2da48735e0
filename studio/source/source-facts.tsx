import type { Ingest } from '../../protocol/ingest.ts';
import { Badge } from '../ui/badge.tsx';

const KINDS = { rtmp: 'RTMP', srt: 'SRT', websocket: 'browser camera' } as const;
/** An encoder below this multiple of real time falls behind. */
const SPEED_MIN = 0.97;

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
  const isSlow = health?.speed !== null && health !== null && health.speed < SPEED_MIN;
  return (
    <div className="grid gap-3">
      <p>
        <Badge variant={isSlow ? 'bad' : 'good'}>{isSlow ? 'Too slow' : 'Receiving video'}</Badge>{' '}
        <span className="text-quiet">via {KINDS[source.kind]}</span>
      </p>
      {isSlow && (
        <p className="text-bad">
          The encoder is too slow. Use a lower resolution or a faster machine.
        </p>
      )}
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
