import type { Ingest } from '../../protocol/ingest.ts';
import { Badge } from '../ui/badge.tsx';

const KINDS = { rtmp: 'RTMP', srt: 'SRT', websocket: 'a browser’s camera' } as const;
/** An encoder that is slower falls behind. */
const SPEED_MIN = 0.97;

/** Whether a picture comes, and how well. */
export function SourceFacts({ source }: Pick<Ingest, 'source'>) {
  if (!source) {
    return (
      <p>
        <Badge>No picture</Badge> <span className="text-quiet">Waiting for a source.</span>
      </p>
    );
  }
  const { health } = source;
  const isSlow = health?.speed !== null && health !== null && health.speed < SPEED_MIN;
  return (
    <div className="grid gap-3">
      <p>
        <Badge look={isSlow ? 'bad' : 'good'}>{isSlow ? 'Too slow' : 'Picture is here'}</Badge>{' '}
        <span className="text-quiet">by {KINDS[source.kind]}</span>
      </p>
      {isSlow && (
        <p className="text-bad">
          The encoder does not keep up: choose a smaller picture, or a faster machine.
        </p>
      )}
      {health && (
        <dl className="grid grid-cols-2 gap-3 sm:grid-cols-5">
          <Fact name="Picture" value={sizeOf(health)} />
          <Fact
            name="Bitrate"
            value={shown(health.bitrate, (it) => `${(it / 1e6).toFixed(1)} Mbit/s`)}
          />
          <Fact name="Frames a second" value={shown(health.fps, (it) => it.toFixed(1))} />
          <Fact name="Encoder" value={shown(health.speed, (it) => `${it.toFixed(2)}×`)} />
          <Fact name="Dropped" value={shown(health.dropped, String)} />
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

const shown = (value: number | null, words: (value: number) => string) =>
  value === null ? '–' : words(value);

function sizeOf({ width, height }: { width: number | null; height: number | null }): string {
  return width === null || height === null ? '–' : `${width} × ${height}`;
}
