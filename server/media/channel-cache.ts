import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { StreamStatus } from '../../protocol/streams.ts';
import { Unavailable } from '../platform/errors.ts';
import type { MediaConfig } from '../platform/media-settings.ts';
import { Channel, type ChannelStream } from './channel.ts';
import type { PlayableStream, PlayableStreams } from './segment.ts';
import type { SegmentStore } from './store/segment-store.ts';

/** What media needs to know of a stream. */
export interface MediaStream extends ChannelStream {
  readonly status: StreamStatus;
}

/** The part of the database that media reads streams from. */
export interface MediaStreamStore {
  findStream(input: { readonly id: string }): Promise<MediaStream | null>;
}

export interface ChannelCacheOptions {
  readonly config: MediaConfig;
  readonly store: MediaStreamStore;
  readonly segmentStore: SegmentStore;
  readonly logger: Logger;
}

const IDLE_TIMEOUT_MS = 600_000;

// Many viewers request the video of a show before it starts, and on other nodes it may start any time.
const START_CHECK_MS = 250;
const START_CHECKS_MAX = 1_000;

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
  /** Recent checks whether a stream has started. */
  private readonly startChecks = new LRUCache<string, Promise<void>>({
    max: START_CHECKS_MAX,
    ttl: START_CHECK_MS,
  });

  constructor(private readonly options: ChannelCacheOptions) {}

  async find(streamId: string): Promise<PlayableStream | null> {
    const channel = await this.findChannel(streamId);
    if (!channel) return null;
    if (!channel.isStarted()) await this.checkStart(streamId, channel);
    return channel.isStarted() ? channel : null;
  }

  /** As `find`, also before the stream has started: for its members only. */
  findPreview(streamId: string): Promise<PlayableStream | null> {
    return this.findChannel(streamId);
  }

  /** The channel of a stream; a stream without segments gets an empty one. */
  open(streamId: string): Promise<Channel> {
    this.lastUsedMs.set(streamId, performance.now());
    this.ended.get(streamId); // marks it as recently used
    const existing = this.channels.get(streamId);
    if (existing) return existing;
    const opening = this.load(streamId);
    this.channels.set(streamId, opening);
    opening.catch(() => this.channels.delete(streamId));
    return opening;
  }

  /**
   * Checks all channels without a source: ends those whose stream has ended, and closes those that
   * were not used for a while.
   */
  checkIdle(hasSource: (streamId: string) => boolean): void {
    for (const [streamId, opening] of this.channels) {
      if (!hasSource(streamId)) void this.checkIdleChannel(streamId, opening, hasSource);
    }
  }

  private async findChannel(streamId: string): Promise<Channel | null> {
    const open = this.channels.get(streamId);
    if (!open && !(await this.options.segmentStore.find(streamId))) return null;
    return this.open(streamId);
  }

  private checkStart(streamId: string, channel: Channel): Promise<void> {
    const recent = this.startChecks.get(streamId);
    if (recent) return recent;
    const check = this.options.store.findStream({ id: streamId }).then((stream) => {
      if (stream) channel.setStream(stream);
    });
    this.startChecks.set(streamId, check);
    return check;
  }

  private async load(streamId: string): Promise<Channel> {
    const { segmentStore, store, config } = this.options;
    const [segments, stream] = await Promise.all([
      segmentStore.open(streamId),
      store.findStream({ id: streamId }),
    ]);
    const hasEnded = stream?.status === 'ENDED';
    const channel = new Channel(streamId, segments, config, hasEnded);
    // The video of a removed rehearsal outlives its stream (Y-10).
    channel.setStream(stream ?? { recording: segments.retention === 'recording', started: 0 });
    if (hasEnded) this.ended.set(streamId, channel);
    return channel;
  }

  private async checkIdleChannel(
    streamId: string,
    opening: Promise<Channel>,
    hasSource: (streamId: string) => boolean,
  ): Promise<void> {
    try {
      const channel = await opening;
      if (!channel.isEnded()) {
        const stream = await this.options.store.findStream({ id: streamId });
        if (stream) channel.setStream(stream);
        if (stream?.status === 'ENDED' && !hasSource(streamId)) {
          this.options.logger.info({ stream: streamId }, 'stream ended');
          await channel.end();
          this.ended.set(streamId, channel);
        }
      }
      const idleMs = performance.now() - (this.lastUsedMs.get(streamId) ?? 0);
      if (idleMs < IDLE_TIMEOUT_MS || hasSource(streamId)) return;
      this.evict(streamId);
    } catch (error) {
      logMaintenanceError(this.options.logger, error);
    }
  }

  private evict(streamId: string): void {
    this.channels.delete(streamId);
    this.lastUsedMs.delete(streamId);
    this.ended.delete(streamId);
  }
}

/** Logs an error of periodic work. An outage of the database is logged elsewhere, once. */
export function logMaintenanceError(logger: Logger, error: unknown): void {
  if (error instanceof Unavailable) return;
  logger.warn({ err: error }, 'periodic maintenance of video failed');
}
