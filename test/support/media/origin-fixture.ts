import { type ListeningServer, listen } from '../../../server/gateway/listen.ts';
import { Origin } from '../../../server/media/origin/origin-routes.ts';
import {
  type Epoch,
  epochName,
  type Part,
  type PlayableStream,
  type PlayableStreams,
  type Presentation,
  type Segment,
  type TrackBytes,
  type TrackId,
} from '../../../server/media/segment.ts';
import { BEGIN_MS, TRACKS } from './segment-store-fixture.ts';

// Time between the starts of two epochs.
const EPOCH_MS = 60_000;

export interface FakeStreamOptions {
  readonly segmentMs?: number;
  readonly partMs?: number | null;
}

/** A stream that a test advances. The content of a file says which file it is. */
export class FakeStream implements PlayableStream {
  account = 'account';
  isEnded = false;
  reopenedMs: number | null = null;
  /** Segment files to serve instead of bytes in memory. */
  readonly files = new Map<number, () => Blob>();
  private version = 1;
  private readonly epochs: Epoch[] = [];
  private readonly segments: Segment[] = [];
  private readonly parts = new Map<number, Part[]>();
  /** Called and forgotten at the next change. */
  private onNextChange = new Set<() => void>();

  /** How many wait for a change. */
  get waiting(): number {
    return this.onNextChange.size;
  }

  constructor(private readonly options: FakeStreamOptions = {}) {}

  startEpoch(): this {
    const inits = new Map(TRACKS.map(({ id }) => [id, this.encode(`init ${id}`)]));
    const number = this.newestEpoch() + 1;
    const startMs = BEGIN_MS + number * EPOCH_MS;
    this.epochs.push({ number, startMs, tracks: TRACKS, inits });
    this.parts.delete((this.segments.at(-1)?.seq ?? -1) + 1);
    return this.notifyChange();
  }

  /** Completes the current segment. */
  addSegment(): this {
    const seq = (this.segments.at(-1)?.seq ?? -1) + 1;
    const { segmentMs = 1000 } = this.options;
    const startMs = BEGIN_MS + seq * segmentMs;
    const pieces = piecesOf(startMs, segmentMs, this.segmentBytes(seq));
    this.segments.push({ seq, epoch: this.newestEpoch(), startMs, durationMs: segmentMs, pieces });
    return this.notifyChange();
  }

  /** Adds a part to the current segment. */
  addPart(): this {
    const seq = (this.segments.at(-1)?.seq ?? -1) + 1;
    const parts = this.parts.get(seq) ?? [];
    this.parts.set(seq, parts);
    const index = parts.length;
    const partMs = this.options.partMs ?? 500;
    const startMs = BEGIN_MS + seq * 1000 + index * partMs;
    const pieces = piecesOf(startMs, partMs, this.partBytes(seq, index));
    parts.push({ index, isIndependent: index === 0, pieces });
    return this.notifyChange();
  }

  /** Removes the oldest segment. */
  removeSegment(): this {
    this.segments.shift();
    return this.notifyChange();
  }

  end(): this {
    this.isEnded = true;
    return this.notifyChange();
  }

  /** Takes back the end; what follows counts from here. */
  reopen(reopenedMs: number): this {
    this.isEnded = false;
    this.reopenedMs = reopenedMs;
    return this.notifyChange();
  }

  presentation(): Presentation {
    const { version, epochs, segments, parts, isEnded, reopenedMs } = this;
    const { segmentMs = 1000, partMs = null } = this.options;
    const settings = { segmentMs, partMs, latencyMs: 3 * segmentMs + 500, dvrMs: 7_200_000 };
    return { version, epochs, segments, parts, isEnded, reopenedMs, ...settings };
  }

  init(epoch: number, track: TrackId): Uint8Array | null {
    return this.epochs.find((each) => epochName(each) === epoch)?.inits.get(track) ?? null;
  }

  segment(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null {
    const stored = this.segments.find((segment) => segment.seq === seq);
    if (!stored || epoch !== this.nameOf(stored.epoch)) return null;
    return this.files.get(seq)?.() ?? this.segmentBytes(seq).get(track) ?? null;
  }

  part(epoch: number, seq: number, index: number, track: TrackId): Uint8Array | null {
    const part =
      epoch === this.nameOf(this.newestEpoch()) ? this.parts.get(seq)?.[index] : undefined;
    return part ? (this.partBytes(seq, index).get(track) ?? null) : null;
  }

  onChange(version: number, run: () => void): () => void {
    if (this.version > version) run();
    else this.onNextChange.add(run);
    return () => this.onNextChange.delete(run);
  }

  private newestEpoch(): number {
    return this.epochs.at(-1)?.number ?? -1;
  }

  private nameOf(number: number): number | null {
    const epoch = this.epochs[number];
    return epoch ? epochName(epoch) : null;
  }

  private segmentBytes(seq: number): TrackBytes {
    return new Map(TRACKS.map(({ id }) => [id, this.encode(`segment ${seq} ${id}`)]));
  }

  private partBytes(seq: number, index: number): TrackBytes {
    return new Map(TRACKS.map(({ id }) => [id, this.encode(`part ${seq}.${index} ${id}`)]));
  }

  private encode(text: string): Uint8Array {
    return new TextEncoder().encode(text);
  }

  private notifyChange(): this {
    this.version++;
    const runs = this.onNextChange;
    this.onNextChange = new Set();
    for (const run of runs) run();
    return this;
  }
}

function piecesOf(startMs: number, durationMs: number, bytes: TrackBytes) {
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

export interface OriginFixture {
  readonly origin: Origin;
  readonly server: ListeningServer;
  /** Errors that led to a 500. */
  readonly defects: unknown[];
  /** Ids of looked-up streams, in order. */
  readonly lookUps: string[];
  get(path: string, init?: RequestInit): Promise<Response>;
  stop(): Promise<void>;
}

/** Starts an origin. @param find may throw, to simulate a failing lookup */
export function listenOrigin(
  find: (streamId: string) => PlayableStream | null,
  corsOrigin = 'https://app.example',
): OriginFixture {
  const defects: unknown[] = [];
  const lookUps: string[] = [];
  const streams: PlayableStreams = {
    async find(streamId) {
      lookUps.push(streamId);
      return find(streamId);
    },
  };
  const shared = {
    corsOrigin,
    log: {
      requestId: () => 'request-1',
      logDefect: (_of: unknown, _requestId: string, error: unknown) => void defects.push(error),
    },
  };
  const origin = new Origin({ streams, addressOf: () => '127.0.0.1', ...shared });
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
    defects,
    lookUps,
    get: (path, init) => fetch(`http://127.0.0.1:${server.port}/media/${path}`, init),
    stop: () => server.stop(),
  };
}
