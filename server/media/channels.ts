import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Store } from '../app/procedures.ts';
import type { StreamRow } from '../domains/streams/streams-sql.ts';
import { Unavailable } from '../platform/errors.ts';
import { Channel, PART_MS } from './channel.ts';
import { SOURCE_ALIVE_MS } from './ingest/lease-rules.ts';
import { LiveSource } from './live-source.ts';
import type { MediaConfig } from '../platform/media-settings.ts';
import { Packager, type PackagerParts } from './packager/packager.ts';
import type { PlayableStream, PlayableStreams } from './segment.ts';
import {
  type Ingest,
  type Refused,
  type SourceEnd,
  type SourceOffer,
  SourceRefused,
  type SourceSession,
} from './source.ts';
import type { SegmentStore } from './store/segment-store.ts';

export interface ChannelsOptions {
  readonly config: MediaConfig;
  readonly store: Pick<Store, 'openSource' | 'renewSource' | 'releaseSource' | 'findStream'>;
  readonly segmentStore: SegmentStore;
  readonly parts: PackagerParts;
  /** Why no source can be taken here, for its sender; null when it can. */
  readonly unavailableReason: () => Promise<string | null>;
  readonly newId: () => string;
  readonly logger: Logger;
}

const REFUSAL_MESSAGES: Readonly<Record<Refused, string>> = {
  'unknown-key': 'No stream has this key; look it up in the studio.',
  busy: 'The stream has a source already, which is alive.',
  ended: 'The stream has ended; make a new one.',
  unavailable: 'The service cannot take it now; try again.',
};

// Parts are cut at any frame. Without parts, a segment is known to be whole with the fragment after
// it, and boxes take less.
const FRAME_MS = 20;
const FRAGMENT_MS = 100;

// The lease of a source is good for 6 s, so that two that come late do no harm.
const RENEW_INTERVAL_MS = 2_000;
const IDLE_TIMEOUT_MS = 600_000;

// What of shows that are over is at hand: what its segments say, and its playlists, are 2.6 kB for
// each, so that who looks through an archive takes 130 MB at most.
const ENDED_CHANNELS_MAX = 32;
const ENDED_SEGMENTS_MAX = 50_000;

/** What sources have cost. */
export interface SourceTotals {
  cpuSeconds: number;
  restarts: number;
  bytes: number;
}

/** All streams that have video here: takes their sources, keeps their leases, gives what plays. */
export class Channels implements Ingest, PlayableStreams {
  /** How many sources were refused, by reason. */
  readonly refused = new Map<Refused, number>();
  private readonly channels = new Map<string, Promise<Channel>>();
  /** Those that are over, the ones looked at last. */
  private readonly ended = new LRUCache<string, Channel>({
    max: ENDED_CHANNELS_MAX,
    maxSize: ENDED_SEGMENTS_MAX,
    sizeCalculation: (channel) =>
      Math.min(channel.presentation().segments.length + 1, ENDED_SEGMENTS_MAX),
    dispose: (_, streamId, reason) => {
      if (reason === 'evict') this.forget(streamId);
    },
  });
  private readonly usedMs = new Map<string, number>();
  private readonly sources = new Map<string, LiveSource>();
  /** Streams that are being given back: who comes next must not find the one before. */
  private readonly releasing = new Set<Promise<void>>();
  private readonly look: Timer;
  private isStopping = false;
  private readonly before: SourceTotals = { cpuSeconds: 0, restarts: 0, bytes: 0 };

  constructor(private readonly options: ChannelsOptions) {
    this.look = setInterval(() => this.lookAfter(), RENEW_INTERVAL_MS);
  }

  async open(offer: SourceOffer): Promise<SourceSession> {
    try {
      return await this.take(offer);
    } catch (error) {
      const known = error instanceof SourceRefused || error instanceof Unavailable;
      if (!known) this.options.logger.error({ err: error }, 'a source could not be taken');
      const refused = error instanceof SourceRefused ? error : refusal('unavailable');
      this.refused.set(refused.reason, (this.refused.get(refused.reason) ?? 0) + 1);
      throw refused;
    }
  }

  async find(streamId: string): Promise<PlayableStream | null> {
    const open = this.channels.get(streamId);
    if (!open && !(await this.options.segmentStore.find(streamId))) return null;
    return this.channelOf(streamId);
  }

  /** Sources that are here now. */
  live(): Iterable<LiveSource> {
    return this.sources.values();
  }

  /** What all sources that were ever here came to. */
  totals(): SourceTotals {
    const total = { ...this.before };
    for (const source of this.sources.values()) add(total, source);
    return total;
  }

  /** Ends all sources, takes no more, and gives their streams to whoever takes them next. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.look);
    const sources = [...this.sources.values()];
    for (const source of sources) {
      source.stop({ why: 'stopping', line: 'The service stops; send again.' });
    }
    await Promise.all(sources.map((source) => this.left(source)));
  }

  private async take(offer: SourceOffer): Promise<SourceSession> {
    if (this.isStopping) throw refusal('unavailable');
    const { store, newId, parts, config } = this.options;
    const unable = await this.options.unavailableReason();
    if (unable !== null) throw new SourceRefused('unavailable', unable);
    await Promise.all(this.releasing);
    const id = newId();
    const opened = await store.openSource({
      key: offer.key,
      ...(offer.streamId !== undefined && { streamId: offer.streamId }),
      session: id,
      kind: offer.kind,
      nowMs: parts.nowMs(),
      graceMs: leaseMsOf(config),
    });
    if (opened.outcome !== 'opened') throw refusal(opened.outcome);
    try {
      return await this.begin(id, offer, opened.stream);
    } catch (error) {
      await this.release(opened.stream.id, id);
      throw error;
    }
  }

  private async begin(id: string, offer: SourceOffer, stream: StreamRow): Promise<LiveSource> {
    const { parts, config, logger } = this.options;
    const { kind, container, address } = offer;
    const streamId = stream.id;
    const log = logger.child({ stream: streamId, kind, address });
    const channel = await this.channelOf(streamId);
    channel.setRetention(stream.recording ? 'recording' : 'dvr');
    // The one before may still be at its last segment.
    await this.sources.get(streamId)?.over;
    if (this.isStopping) throw refusal('unavailable');
    const makePackager = (failed: (end: SourceEnd) => void) =>
      new Packager(parts, {
        container,
        settings: {
          ...config,
          fragmentMs: config.latency === 'low' ? FRAME_MS : FRAGMENT_MS,
        },
        segmentMs: config.segmentMs,
        partMs: config.latency === 'low' ? PART_MS : null,
        logger: log,
        output: channel.sink(failed),
      });
    const source = new LiveSource(id, kind, channel, makePackager, parts.nowMs);
    this.sources.set(streamId, source);
    log.info('a source is taken');
    void source.closed.then(({ line }) => {
      log.info({ reason: line }, 'the source ended');
      void this.left(source);
    });
    return source;
  }

  /** Gives the stream to whoever takes it next, and forgets the source once it is over. */
  private async left(source: LiveSource): Promise<void> {
    await this.release(source.streamId, source.id);
    await source.over;
    if (this.sources.get(source.streamId) !== source) return;
    this.sources.delete(source.streamId);
    add(this.before, source);
  }

  /** Gives a stream back. What fails is logged: the lease runs out by itself. */
  private async release(streamId: string, session: string): Promise<void> {
    const { store, parts, config } = this.options;
    const graceMs = config.sourceGraceMs;
    const released = store
      .releaseSource({ streamId, session, nowMs: parts.nowMs(), graceMs })
      .catch((error) => this.tolerate(error));
    this.releasing.add(released);
    await released;
    this.releasing.delete(released);
  }

  private channelOf(streamId: string): Promise<Channel> {
    this.usedMs.set(streamId, performance.now());
    this.ended.get(streamId);
    const open = this.channels.get(streamId);
    if (open) return open;
    const opening = this.openChannel(streamId);
    this.channels.set(streamId, opening);
    opening.catch(() => this.channels.delete(streamId));
    return opening;
  }

  private async openChannel(streamId: string): Promise<Channel> {
    const { segmentStore, store, config } = this.options;
    const [shelf, stream] = await Promise.all([
      segmentStore.open(streamId),
      store.findStream({ id: streamId }),
    ]);
    const hasEnded = stream?.status === 'ENDED';
    const channel = new Channel(streamId, shelf, config, hasEnded);
    if (hasEnded) this.ended.set(streamId, channel);
    return channel;
  }

  private forget(streamId: string): void {
    this.channels.delete(streamId);
    this.usedMs.delete(streamId);
    this.ended.delete(streamId);
  }

  private lookAfter(): void {
    for (const source of this.sources.values()) void this.renew(source);
    for (const [streamId, opening] of this.channels) {
      if (!this.sources.has(streamId)) void this.lookAtIdle(streamId, opening);
    }
  }

  private async renew(source: LiveSource): Promise<void> {
    const { store, parts, config } = this.options;
    const { streamId, channel, id } = source;
    try {
      const renewed = await store.renewSource({
        streamId,
        session: id,
        nowMs: parts.nowMs(),
        graceMs: leaseMsOf(config),
        health: source.health(),
      });
      channel.setRetention(renewed.recording ? 'recording' : 'dvr');
      if (renewed.outcome === 'ended') {
        source.stop({ why: 'ended', line: 'The stream has ended.' });
      } else if (renewed.outcome === 'lost') {
        source.stop({ why: 'replaced', line: 'Another source has taken the stream.' });
      }
    } catch (error) {
      this.tolerate(error);
    }
  }

  /** A stream without a source: it may have ended, or nobody may want it any more. */
  private async lookAtIdle(streamId: string, opening: Promise<Channel>): Promise<void> {
    try {
      const channel = await opening;
      if (!channel.isEnded()) {
        const stream = await this.options.store.findStream({ id: streamId });
        if (stream) channel.setRetention(stream.recording ? 'recording' : 'dvr');
        if (stream?.status === 'ENDED' && !this.sources.has(streamId)) {
          this.options.logger.info({ stream: streamId }, 'the stream has ended');
          await channel.end();
          this.ended.set(streamId, channel);
        }
      }
      const idleMs = performance.now() - (this.usedMs.get(streamId) ?? 0);
      if (idleMs < IDLE_TIMEOUT_MS || this.sources.has(streamId)) return;
      this.forget(streamId);
    } catch (error) {
      this.tolerate(error);
    }
  }

  // What is unavailable is told of elsewhere, once; this comes again every two seconds.
  private tolerate(error: unknown): void {
    if (error instanceof Unavailable) return;
    this.options.logger.warn({ err: error }, 'looking after video failed');
  }
}

function add(total: SourceTotals, { packager }: LiveSource): void {
  const { cpuSeconds, restarts, bytes } = packager.state();
  total.cpuSeconds += cpuSeconds;
  total.restarts += restarts;
  total.bytes += bytes;
}

/** A source that lives must not be taken for gone between two renewals, however short the grace. */
function leaseMsOf({ sourceGraceMs }: MediaConfig): number {
  return Math.max(sourceGraceMs, SOURCE_ALIVE_MS);
}

function refusal(reason: Refused): SourceRefused {
  return new SourceRefused(reason, REFUSAL_MESSAGES[reason]);
}
