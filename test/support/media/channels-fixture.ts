import { pino } from 'pino';
import type { StreamRow } from '../../../server/domains/streams/streams-sql.ts';
import { Channels, type ChannelsOptions } from '../../../server/media/channels.ts';
import { mayOpen, mayRenew } from '../../../server/media/ingest/lease-rules.ts';
import type { MediaConfig } from '../../../server/platform/media-settings.ts';
import type { Epoch, TrackBytes, Segment, TrackId } from '../../../server/media/segment.ts';
import type { SourceOffer } from '../../../server/media/source.ts';
import type { Retention, StreamSegments, SegmentStore } from '../../../server/media/store/segment-store.ts';
import { configOf } from '../../../server/platform/config.ts';
import { Unavailable } from '../../../server/platform/errors.ts';
import { FakeParts } from './packager-fixture.ts';

export const MEDIA_CONFIG: MediaConfig = { ...configOf().media, sourceGraceMs: 30_000 };

/** A shelf that keeps everything, in memory. */
export class FakeShelf implements StreamSegments {
  readonly epochs: Epoch[] = [];
  readonly segments: Segment[] = [];
  retention: Retention = 'dvr';
  version = 0;
  /** How it was closed; null: it was not. */
  closed: { readonly isEnded: boolean } | null = null;
  private readonly bytes: TrackBytes[] = [];

  get nextSeq(): number {
    return (this.segments.at(-1)?.seq ?? -1) + 1;
  }

  addEpoch(epoch: Epoch): void {
    this.epochs.push(epoch);
    this.version++;
  }

  add(segment: Segment, bytes: TrackBytes): void {
    this.segments.push(segment);
    this.bytes.push(bytes);
    this.version++;
  }

  read(epoch: number, seq: number, track: TrackId): Uint8Array | null {
    if (this.segments[seq]?.epoch !== epoch) return null;
    return this.bytes[seq]?.get(track) ?? null;
  }

  setRetention(keeping: Retention): void {
    this.retention = keeping;
  }

  async close(isEnded: boolean): Promise<void> {
    this.closed = { isEnded };
  }
}

export class FakeShelves implements SegmentStore {
  readonly shelves = new Map<string, FakeShelf>();
  failure: Error | null = null;

  async open(streamId: string): Promise<FakeShelf> {
    if (this.failure) throw this.failure;
    const shelf = this.shelves.get(streamId) ?? new FakeShelf();
    this.shelves.set(streamId, shelf);
    return shelf;
  }

  async find(streamId: string): Promise<FakeShelf | null> {
    return this.shelves.get(streamId) ?? null;
  }

  stats() {
    return { bytes: 1_000, fullStreams: 1, evicted: 2 };
  }

  async close(): Promise<void> {}
}

interface Row {
  status: StreamRow['status'];
  key: string;
  recording: boolean;
  source: string | null;
  seenMs: number | null;
}

type MediaStore = ChannelsOptions['store'];

/** What the database knows of streams and their sources, with the rules of the real one. */
export class FakeStore implements MediaStore {
  readonly rows = new Map<string, Row>();
  isUnavailable = false;
  /** Opening waits for it. */
  gate: Promise<void> = Promise.resolve();
  /** What was said of sources, in order. */
  readonly said: string[] = [];

  add(id: string, key: string): Row {
    const row: Row = { status: 'CREATED', key, recording: false, source: null, seenMs: null };
    this.rows.set(id, row);
    return row;
  }

  readonly openSource: MediaStore['openSource'] = async ({ key, streamId, session, nowMs }) => {
    await this.gate;
    this.there();
    const [id, row] = [...this.rows].find(([, one]) => one.key === key) ?? [];
    if (id === undefined || !row || id !== (streamId ?? id)) return { outcome: 'unknown-key' };
    const outcome = mayOpen(row, session, nowMs);
    if (outcome !== 'opened') return { outcome };
    Object.assign(row, { status: 'STREAMING', source: session, seenMs: nowMs });
    this.said.push(`open ${session}`);
    return { outcome, stream: this.streamOf(id, row) };
  };

  readonly renewSource: MediaStore['renewSource'] = async ({ streamId, session, nowMs }) => {
    this.there();
    const row = this.rows.get(streamId) as Row;
    const outcome = mayRenew(row, session);
    if (outcome === 'renewed') row.seenMs = nowMs;
    this.said.push(`renew ${session}: ${outcome}`);
    return { outcome, recording: row.recording };
  };

  readonly releaseSource: MediaStore['releaseSource'] = async ({ streamId, session }) => {
    this.there();
    const row = this.rows.get(streamId) as Row;
    if (mayRenew(row, session) !== 'renewed') return;
    Object.assign(row, { source: null, seenMs: null });
    this.said.push(`release ${session}`);
  };

  readonly findStream: MediaStore['findStream'] = async ({ id }) => {
    this.there();
    const row = this.rows.get(id);
    return row ? this.streamOf(id, row) : null;
  };

  private there(): void {
    if (this.isUnavailable) throw new Unavailable('The database is unavailable.');
  }

  private streamOf(id: string, { status, recording }: Row): StreamRow {
    return {
      id,
      producer: 'a producer',
      title: 'A show',
      dashUrl: null,
      hlsUrl: null,
      unlisted: false,
      latencyAllowanceMs: 0,
      recording,
      status,
      created: 0,
      started: null,
      ended: null,
      endsAt: null,
      rundownRevision: 0,
      rehearsalOf: null,
    };
  }
}

export const OFFER: SourceOffer = {
  key: 'sk_1',
  kind: 'rtmp',
  container: 'flv',
  address: '192.0.2.1',
};

/** Channels with one stream, `one`, that has the key of `OFFER`. */
export function newChannels(options: Partial<ChannelsOptions> = {}) {
  const store = new FakeStore();
  const shelves = new FakeShelves();
  const parts = new FakeParts();
  const row = store.add('one', OFFER.key);
  const ids = { next: 0 };
  const channels = new Channels({
    config: MEDIA_CONFIG,
    store,
    segmentStore,
    parts,
    unavailableReason: async () => null,
    newId: () => `session ${++ids.next}`,
    logger: pino({ level: 'silent' }),
    ...options,
  });
  return { channels, store, shelves, parts, row };
}
