import { type Listening, listen } from '../../../server/gateway/listen.ts';
import { type Origin, originRoutes } from '../../../server/media/origin/origin-routes.ts';
import {
  type Epoch,
  epochName,
  type Part,
  type PieceBytes,
  type Playable,
  type Playables,
  type Presentation,
  type Segment,
  type Track,
  type TrackId,
} from '../../../server/media/segment.ts';

export const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
export const BEGIN_MS = 1_795_000_000_000;

// From one epoch to the next.
const EPOCH_MS = 60_000;

const VIDEO: Track = {
  id: 'v0',
  kind: 'video',
  codec: 'avc1.64001f',
  timescale: 15360,
  bandwidth: 1_000_000,
  width: 192,
  height: 108,
  frameRate: [15, 1],
};
const AUDIO: Track = {
  id: 'a0',
  kind: 'audio',
  codec: 'mp4a.40.2',
  timescale: 48000,
  bandwidth: 128_000,
  sampleRate: 48000,
  channels: 2,
};
const TRACKS = [VIDEO, AUDIO];

export interface FakeOptions {
  readonly segmentMs?: number;
  readonly partMs?: number | null;
}

/** A stream that a test makes go on. Its pieces tell what they are. */
export class FakePlayable implements Playable {
  isEnded = false;
  /** Read instead of what is in memory. */
  readonly files = new Map<number, () => Blob>();
  private version = 1;
  private readonly epochs: Epoch[] = [];
  private readonly segments: Segment[] = [];
  private readonly parts = new Map<number, Part[]>();
  private waiting: (() => void)[] = [];

  constructor(private readonly options: FakeOptions = {}) {}

  /** Another encoder begins. */
  begin(): this {
    const inits = new Map(TRACKS.map(({ id }) => [id, this.text(`init ${id}`)]));
    const number = this.newest() + 1;
    const startMs = BEGIN_MS + number * EPOCH_MS;
    this.epochs.push({ number, startMs, tracks: TRACKS, inits });
    this.parts.delete((this.segments.at(-1)?.seq ?? -1) + 1);
    return this.rise();
  }

  /** Makes the next segment, of the parts there are. */
  addSegment(): this {
    const seq = (this.segments.at(-1)?.seq ?? -1) + 1;
    const { segmentMs = 1000 } = this.options;
    const startMs = BEGIN_MS + seq * segmentMs;
    const pieces = piecesOf(startMs, segmentMs, this.segmentBytes(seq));
    this.segments.push({ seq, epoch: this.newest(), startMs, durationMs: segmentMs, pieces });
    return this.rise();
  }

  addPart(): this {
    const seq = (this.segments.at(-1)?.seq ?? -1) + 1;
    const parts = this.parts.get(seq) ?? [];
    this.parts.set(seq, parts);
    const index = parts.length;
    const partMs = this.options.partMs ?? 500;
    const startMs = BEGIN_MS + seq * 1000 + index * partMs;
    const pieces = piecesOf(startMs, partMs, this.partBytes(seq, index));
    parts.push({ index, isIndependent: index === 0, pieces });
    return this.rise();
  }

  /** The oldest segment leaves. */
  removeSegment(): this {
    this.segments.shift();
    return this.rise();
  }

  end(): this {
    this.isEnded = true;
    return this.rise();
  }

  presentation(): Presentation {
    const { version, epochs, segments, parts, isEnded } = this;
    const { segmentMs = 1000, partMs = null } = this.options;
    const more = { segmentMs, partMs, latencyMs: 3 * segmentMs + 500, dvrMs: 7_200_000 };
    return { version, epochs, segments, parts, isEnded, ...more };
  }

  init(epoch: number, track: TrackId): Uint8Array | null {
    return this.epochs.find((each) => epochName(each) === epoch)?.inits.get(track) ?? null;
  }

  segment(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null {
    const found = this.segments.find((segment) => segment.seq === seq);
    if (!found || epoch !== this.nameOf(found.epoch)) return null;
    return this.files.get(seq)?.() ?? this.segmentBytes(seq).get(track) ?? null;
  }

  part(epoch: number, seq: number, index: number, track: TrackId): Uint8Array | null {
    const part = epoch === this.nameOf(this.newest()) ? this.parts.get(seq)?.[index] : undefined;
    return part ? (this.partBytes(seq, index).get(track) ?? null) : null;
  }

  changed(version: number): Promise<void> {
    if (this.version > version) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private newest(): number {
    return this.epochs.at(-1)?.number ?? -1;
  }

  private nameOf(number: number): number | null {
    const epoch = this.epochs[number];
    return epoch ? epochName(epoch) : null;
  }

  private segmentBytes(seq: number): PieceBytes {
    return new Map(TRACKS.map(({ id }) => [id, this.text(`segment ${seq} ${id}`)]));
  }

  private partBytes(seq: number, index: number): PieceBytes {
    return new Map(TRACKS.map(({ id }) => [id, this.text(`part ${seq}.${index} ${id}`)]));
  }

  private text(text: string): Uint8Array {
    return new TextEncoder().encode(text);
  }

  private rise(): this {
    this.version++;
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
    return this;
  }
}

function piecesOf(startMs: number, durationMs: number, bytes: PieceBytes) {
  return new Map(
    TRACKS.map(({ id, timescale }) => [
      id,
      {
        startTicks: (startMs * timescale) / 1000,
        durationTicks: (durationMs * timescale) / 1000,
        byteLength: bytes.get(id)?.byteLength ?? 0,
      },
    ]),
  );
}

/** An origin that listens, with the streams of a test. */
export interface OriginFixture {
  readonly origin: Origin;
  readonly server: Listening;
  /** What went wrong on our side. */
  readonly broken: unknown[];
  /** How often a stream was looked up. */
  readonly lookUps: string[];
  get(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

/** @param find throws to say that it cannot */
export function listenOrigin(
  find: (streamId: string) => Playable | null,
  corsOrigin = 'https://app.example',
): OriginFixture {
  const broken: unknown[] = [];
  const lookUps: string[] = [];
  const playables: Playables = {
    async find(streamId) {
      lookUps.push(streamId);
      return find(streamId);
    },
  };
  const shared = {
    corsOrigin,
    log: {
      requestId: () => 'request-1',
      broken: (_of: unknown, _requestId: string, error: unknown) => void broken.push(error),
    },
  };
  const origin = originRoutes({ playables, ...shared });
  const server = listen<undefined>({
    host: '127.0.0.1',
    port: 0,
    routes: origin.routes,
    fetch: () => new Response('no route', { status: 404 }),
    ...shared,
  });
  return {
    origin,
    server,
    broken,
    lookUps,
    get: (path, init) => fetch(`http://127.0.0.1:${server.port}/media/${path}`, init),
    stop: () => server.stop(),
  };
}
