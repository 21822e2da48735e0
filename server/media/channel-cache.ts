import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { REOPEN_MS } from '../../protocol/limits.ts';
import type { StreamStatus } from '../../protocol/streams.ts';
import { ConcurrencyLimiter } from '../platform/concurrency-limiter.ts';
import { Unavailable } from '../platform/errors.ts';
import type { MediaConfig } from '../platform/media-settings.ts';
import { runtime } from '../platform/runtime.ts';
import { Channel, type ChannelStream } from './channel.ts';
import type { PlayableStream, PlayableStreams } from './segment.ts';
import type { SegmentStore } from './store/segment-store.ts';

/** What media needs to know of a stream. */
export interface MediaStream extends ChannelStream {
  /** Its account. */
  readonly producer: string;
  readonly status: StreamStatus;
  /** When it ended, Unix ms; null: not ended. */
  readonly ended: number | null;
}

/** The part of the database that media reads streams from. */
export interface MediaStreamStore {
  findStream(input: { readonly id: string }): Promise<MediaStream | null>;
}

export interface ChannelCacheOptions {
  readonly config: MediaConfig;
  readonly store: MediaStreamStore;
  readonly segmentStore: SegmentStore;
  readonly nowMs: () => number;
  readonly logger: Logger;
}

const IDLE_TIMEOUT_MS = 600_000;
// A node may notice this much later that a stream was reopened in its last moment.
const REOPEN_DELAY_MS = 10_000;

// Many viewers request the video of a show before it starts, and on other nodes it may start any time.
const START_CHECK_MS = 250;
const START_CHECKS_MAX = 1_000;

// Streams of idle channels that are read at once: PostgreSQL made all others who read a stream wait for those of 2,500
// channels, every two seconds.
const IDLE_CHECKS_MAX = 4;

// Segment lists and playlists of ended streams take 2.6 kB a segment: with these limits,
// requests for a whole archive hold 130 MB at most.
const ENDED_CHANNELS_MAX = 32;
const ENDED_SEGMENTS_MAX = 50_000;

/** The open channels of all streams with video on this node. Opens a channel on first use. */
export class ChannelCache implements PlayableStreams {
  private readonly channels = new Map<string, Promise<Channel>>();
  /** Channels of ended streams; the least recently used are closed. */
  private readonly ended = new LRUCache<string, Channel>({
    max: ENDED_CHANNELS_MAX,
    maxSize: ENDED_SEGMENTS_MAX,
    sizeCalculation: (channel) =>
      Math.min(channel.presentation().segments.length + 1, ENDED_SEGMENTS_MAX),
    dispose: (_, streamId, reason) => {
      if (reason === 'evict') this.evict(streamId);
    },
  });
  private readonly lastUsedMs = new Map<string, number>();
  /** When streams that may still be reopened ended, Unix ms. */
  private readonly endedMs = new Map<string, number>();
  /** Recent checks whether a stream has started. */
  private readonly startChecks = new LRUCache<string, Promise<void>>({
    max: START_CHECKS_MAX,
    ttl: START_CHECK_MS,
  });

  /** Channels whose check has not ended. */
  private readonly checking = new Set<string>();
  private readonly idleChecks = new ConcurrencyLimiter(
    IDLE_CHECKS_MAX,
    Number.MAX_SAFE_INTEGER, // One for each channel.
    'Too many channels are being checked.',
  );

  constructor(private readonly options: ChannelCacheOptions) {}

  async find(streamId: string, network = ''): Promise<PlayableStream | null> {
    const channel = await this.findChannel(streamId, network);
    if (!channel) return null;
    if (!channel.isStarted()) await this.checkStart(streamId, channel);
    return channel.isStarted() ? channel : null;
  }

  /** As `find`, also before the stream has started: for its members only. */
  findPreview(streamId: string, network = ''): Promise<PlayableStream | null> {
    return this.findChannel(streamId, network);
  }

  /** The channel of a stream; a stream without segments gets an empty one. */
  open(streamId: string, network = ''): Promise<Channel> {
    this.lastUsedMs.set(streamId, runtime.monotonicMs());
    this.ended.get(streamId); // marks it as recently used
    const existing = this.channels.get(streamId);
    if (existing) return existing;
    const opening = this.load(streamId, network);
    this.channels.set(streamId, opening);
    opening.catch(() => this.channels.delete(streamId));
    return opening;
  }

  /** Applies the state of the stream; one that was reopened is live again. */
  setStream(channel: Channel, stream: ChannelStream): void {
    channel.setStream(stream);
    if (channel.isEnded()) return;
    this.ended.delete(channel.streamId);
    this.endedMs.delete(channel.streamId);
  }

  /**
   * Checks all channels without a source: ends those whose stream has ended, resumes those whose stream
   * was reopened, and closes those that were not used for a while.
   */
  checkIdle(hasSource: (streamId: string) => boolean): void {
    for (const [streamId, opening] of this.channels) {
      if (hasSource(streamId) || this.checking.has(streamId)) continue;
      this.checking.add(streamId);
      void this.checkIdleChannel(streamId, opening, hasSource).finally(() =>
        this.checking.delete(streamId),
      );
    }
  }

  private async findChannel(streamId: string, network: string): Promise<Channel | null> {
    const open = this.channels.get(streamId);
    if (!open && !(await this.options.segmentStore.find(streamId, network))) return null;
    return this.open(streamId, network);
  }

  private checkStart(streamId: string, channel: Channel): Promise<void> {
    const recent = this.startChecks.get(streamId);
    if (recent) return recent;
    const check = this.options.store.findStream({ id: streamId }).then((stream) => {
      if (stream) this.setStream(channel, stream);
    });
    this.startChecks.set(streamId, check);
    return check;
  }

  private async load(streamId: string, network: string): Promise<Channel> {
    const { segmentStore, store, config } = this.options;
    const [segments, stream] = await Promise.all([
      segmentStore.open(streamId, network),
      store.findStream({ id: streamId }),
    ]);
    if (stream) segments.setAccount(stream.producer);
    // The video of a removed rehearsal outlives its stream (Y-10).
    const { retention, isPreview } = segments;
    const started = isPreview ? null : 0;
    const state = stream ?? { recording: retention === 'recording', started, reopened: null };
    const hasEnded = isOver(stream);
    const channel = new Channel(streamId, segments, config, hasEnded, state.reopened);
    channel.setStream(state);
    channel.account = stream?.producer ?? '';
    const ended = stream?.ended ?? null;
    if (ended !== null) segments.setEnded(ended);
    if (hasEnded) this.keepEnded(streamId, channel, ended);
    return channel;
  }

  private async checkIdleChannel(
    streamId: string,
    opening: Promise<Channel>,
    hasSource: (streamId: string) => boolean,
  ): Promise<void> {
    try {
      const channel = await opening;
      channel.releaseOldParts();
      if (this.mayChange(streamId, channel)) {
        const stream = await this.idleChecks.run('', () =>
          this.options.store.findStream({ id: streamId }),
        );
        if (stream) this.setStream(channel, stream);
        if (isOver(stream) && !channel.isEnded() && !hasSource(streamId)) {
          this.options.logger.info({ stream: streamId }, 'stream ended');
          await channel.end();
          this.keepEnded(streamId, channel, stream?.ended ?? null);
        }
      }
      const idleMs = runtime.monotonicMs() - (this.lastUsedMs.get(streamId) ?? 0);
      if (idleMs < IDLE_TIMEOUT_MS || hasSource(streamId)) return;
      this.evict(streamId);
    } catch (error) {
      logMaintenanceError(this.options.logger, error);
    }
  }

  /** Whether the stream may start, end or be reopened. */
  private mayChange(streamId: string, channel: Channel): boolean {
    if (!channel.isEnded()) return true;
    const endedMs = this.endedMs.get(streamId);
    if (endedMs === undefined) return false;
    if (this.options.nowMs() < endedMs + REOPEN_MS + REOPEN_DELAY_MS) return true;
    this.endedMs.delete(streamId);
    return false;
  }

  private keepEnded(streamId: string, channel: Channel, endedMs: number | null): void {
    this.ended.set(streamId, channel);
    if (endedMs !== null) this.endedMs.set(streamId, endedMs);
  }

  private evict(streamId: string): void {
    this.channels.delete(streamId);
    this.lastUsedMs.delete(streamId);
    this.endedMs.delete(streamId);
    this.ended.delete(streamId);
  }
}

/** Whether a stream has ended, or was removed. */
function isOver(stream: MediaStream | null): boolean {
  return stream === null || stream.status === 'ENDED';
}

/** Logs an error of periodic work. An outage of the database is logged elsewhere, once. */
export function logMaintenanceError(logger: Logger, error: unknown): void {
  if (error instanceof Unavailable) return;
  logger.warn({ err: error }, 'periodic maintenance of video failed');
}
