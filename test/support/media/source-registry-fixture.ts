import { pino } from 'pino';
import {
  ChannelCache,
  type MediaStream,
  type MediaStreamStore,
} from '../../../server/media/channel-cache.ts';
import { mayOpen, mayRenew } from '../../../server/media/ingest/lease-rules.ts';
import type { Epoch, Segment, TrackBytes, TrackId } from '../../../server/media/segment.ts';
import type { SourceRequest } from '../../../server/media/source.ts';
import {
  type SourceLeaseStore,
  SourceRegistry,
  type SourceRegistryOptions,
} from '../../../server/media/source-registry.ts';
import type {
  Retention,
  SegmentStore,
  StreamSegments,
} from '../../../server/media/store/segment-store.ts';
import { createConfig } from '../../../server/platform/config.ts';
import { Unavailable } from '../../../server/platform/errors.ts';
import type { MediaConfig } from '../../../server/platform/media-settings.ts';
import { FakePackagerDependencies } from './packager-fixture.ts';

export const MEDIA_CONFIG: MediaConfig = { ...createConfig().media, sourceGraceMs: 30_000 };

/** Segments of one stream in memory; only those of a preview are removed. */
export class FakeStreamSegments implements StreamSegments {
  readonly epochs: Epoch[] = [];
  readonly segments: Segment[] = [];
  nextSeq = 0;
  get nextEpoch(): number {
    return (this.epochs.at(-1)?.number ?? -1) + 1;
  }
  retention: Retention = 'dvr';
  account: string | null = null;
  version = 0;
  /** Arguments of `close`; null: not called. */
  closed: { readonly isEnded: boolean } | null = null;
  private readonly bytes = new Map<Segment, TrackBytes>();
  private firstMs = 0;

  addEpoch(epoch: Epoch): void {
    this.epochs.push(epoch);
    this.version++;
  }

  add(segment: Segment, bytes: TrackBytes): void {
    this.segments.push(segment);
    this.nextSeq = segment.seq + 1;
    this.bytes.set(segment, bytes);
    this.removeBefore(this.firstMs);
  }

  read(epoch: number, seq: number, track: TrackId): Uint8Array | null {
    const segment = this.segments.find((each) => each.seq === seq && each.epoch === epoch);
    return (segment && this.bytes.get(segment)?.get(track)) ?? null;
  }

  setAccount(account: string): void {
    this.account = account;
  }

  setRetention(retention: Retention): void {
    this.retention = retention;
  }

  get isPreview(): boolean {
    return this.retention === 'preview';
  }

  startPreview(): void {
    this.retention = 'preview';
  }

  get hasNewSegments(): boolean {
    return this.segments.length > 0 && !this.closed?.isEnded;
  }

  setEnded(): void {}

  removeBefore(ms: number): void {
    this.firstMs = ms;
    const first = this.segments.findIndex((each) => each.startMs + each.durationMs > ms);
    this.segments.splice(0, first === -1 ? this.segments.length : first);
    this.version++;
  }

  async close(isEnded: boolean): Promise<void> {
    this.closed = { isEnded };
  }
}

/** Segment stores in memory; while `failure` is set, `open` throws it. */
export class FakeSegmentStore implements SegmentStore {
  readonly streams = new Map<string, FakeStreamSegments>();
  failure: Error | null = null;

  async open(streamId: string): Promise<FakeStreamSegments> {
    if (this.failure) throw this.failure;
    const segments = this.streams.get(streamId) ?? new FakeStreamSegments();
    this.streams.set(streamId, segments);
    return segments;
  }

  async find(streamId: string): Promise<FakeStreamSegments | null> {
    return this.streams.get(streamId) ?? null;
  }

  stats() {
    return { bytes: 1_000, fullStreams: 1, evicted: 2 };
  }

  async close(): Promise<void> {}
}

interface Row {
  status: MediaStream['status'];
  started: number | null;
  ended: number | null;
  reopened: number | null;
  autoStart: boolean;
  key: string;
  producer: string;
  recording: boolean;
  source: string | null;
  seenMs: number | null;
  /** When the stream ends unless its source renews the lease. */
  endsAtMs: number | null;
}

type MediaStore = SourceLeaseStore & MediaStreamStore;

/** Streams and their source leases in memory, by the rules of the database. */
export class FakeStore implements MediaStore {
  readonly rows = new Map<string, Row>();
  isUnavailable = false;
  /** `openSource` waits for this. */
  gate: Promise<void> = Promise.resolve();
  /** Lease operations, in order. */
  readonly operations: string[] = [];

  add(id: string, key: string): Row {
    const lease = { source: null, seenMs: null, endsAtMs: null };
    const times = { started: null, ended: null, reopened: null };
    const state = { status: 'CREATED', ...times, autoStart: true } as const;
    const row: Row = { ...state, key, producer: 'account', recording: false, ...lease };
    this.rows.set(id, row);
    return row;
  }

  readonly openSource: MediaStore['openSource'] = async (input) => {
    const { key, streamId, session, nowMs, graceMs } = input;
    await this.gate;
    this.checkAvailable();
    const [id, row] = [...this.rows].find(([, lease]) => lease.key === key) ?? [];
    if (id === undefined || !row || id !== (streamId ?? id)) return { outcome: 'unknown-key' };
    const outcome = mayOpen(row, session, nowMs);
    if (outcome !== 'opened') return { outcome };
    Object.assign(row, { source: session, seenMs: nowMs, endsAtMs: nowMs + graceMs });
    if (row.autoStart) this.start(id, nowMs);
    this.operations.push(`open ${session}`);
    return { outcome, stream: this.streamOf(id, row) };
  };

  readonly renewSource: MediaStore['renewSource'] = async (input) => {
    const { streamId, session, nowMs, graceMs } = input;
    this.checkAvailable();
    const row = this.rows.get(streamId);
    if (!row) return { outcome: 'removed' };
    const outcome = mayRenew(row, session);
    if (outcome === 'renewed') Object.assign(row, { seenMs: nowMs, endsAtMs: nowMs + graceMs });
    this.operations.push(`renew ${session}: ${outcome}`);
    const { recording, started, reopened } = row;
    return { outcome, recording, started, reopened };
  };

  readonly releaseSource: MediaStore['releaseSource'] = async (input) => {
    const { streamId, session, nowMs, graceMs } = input;
    this.checkAvailable();
    const row = this.rows.get(streamId);
    if (!row || mayRenew(row, session) !== 'renewed') return;
    Object.assign(row, { source: null, seenMs: null, endsAtMs: nowMs + graceMs });
    this.operations.push(`release ${session}`);
  };

  readonly findStream: MediaStore['findStream'] = async ({ id }) => {
    this.checkAvailable();
    const row = this.rows.get(id);
    return row ? this.streamOf(id, row) : null;
  };

  private checkAvailable(): void {
    if (this.isUnavailable) throw new Unavailable('The database is unavailable.');
  }

  /** Starts a stream, as its producer does. */
  start(id: string, nowMs: number): void {
    const row = this.rows.get(id) as Row;
    row.status = 'STREAMING';
    row.started ??= nowMs;
  }

  private streamOf(id: string, row: Row): MediaStream & { readonly id: string } {
    const { producer, status, recording, started, ended, reopened } = row;
    return { id, producer, status, recording, started, ended, reopened };
  }
}

export const SOURCE_REQUEST: SourceRequest = {
  key: 'sk_1',
  kind: 'rtmp',
  container: 'flv',
  address: '192.0.2.1',
};

/** A source registry with one stream, `one`, whose key is that of `SOURCE_REQUEST`. */
export function createSourceFixture(options: Partial<SourceRegistryOptions> = {}) {
  const store = new FakeStore();
  const segmentStore = new FakeSegmentStore();
  const packager = new FakePackagerDependencies();
  const row = store.add('one', SOURCE_REQUEST.key);
  const ids = { next: 0 };
  const config = MEDIA_CONFIG;
  const logger = options.logger ?? pino({ level: 'silent' });
  const channels = new ChannelCache({
    config,
    store,
    segmentStore,
    nowMs: () => packager.nowMs(),
    logger,
  });
  const sources = new SourceRegistry({
    config,
    store,
    channels,
    packager,
    unavailableReason: async () => null,
    newId: () => `session ${++ids.next}`,
    logger,
    ...options,
  });
  return { sources, channels, store, segmentStore, packager, row };
}
