import type { Logger } from 'pino';
import { Unavailable } from '../platform/errors.ts';
import type { MediaConfig } from '../platform/media-settings.ts';
import { runtime } from '../platform/runtime.ts';
import { waitAtMost } from '../platform/wait-at-most.ts';
import type { Calls } from '../storage/sql/procedure.ts';
import { type ChannelStream, PART_MS } from './channel.ts';
import { type ChannelCache, logMaintenanceError } from './channel-cache.ts';
import type { createIngestProcedures } from './ingest/ingest-sql.ts';
import { NODE_GRACE_MS } from './ingest/lease-rules.ts';
import { InputQueue, QueuedSession } from './input-queue.ts';
import { LiveSource } from './live-source.ts';
import { Packager, type PackagerDependencies } from './packager/packager.ts';
import {
  type Ingest,
  type RefusalReason,
  type SourceEnd,
  SourceRefused,
  type SourceRequest,
  type SourceSession,
} from './source.ts';

/** The stream that a source was opened for: the one with its stream key. */
type OpenedStream = ChannelStream & { readonly id: string; readonly producer: string };

/** The calls of the database that claim, renew and release the lease of a stream's source. */
export type SourceLeaseStore = Pick<
  Calls<ReturnType<typeof createIngestProcedures<OpenedStream>>>,
  'openSource' | 'renewSource' | 'releaseSource'
>;

export interface SourceRegistryOptions {
  readonly config: MediaConfig;
  readonly store: SourceLeaseStore;
  readonly channels: ChannelCache;
  readonly packager: PackagerDependencies;
  /** Why this service can take no source, as a message for its sender; null when it can. */
  readonly unavailableReason: () => Promise<string | null>;
  readonly newId: () => string;
  readonly logger: Logger;
}

const REFUSAL_MESSAGES: Readonly<Record<RefusalReason, string>> = {
  'unknown-key': 'No stream has this key; look it up in the studio.',
  busy: 'The stream already has a live source.',
  ended: 'The stream has ended; reopen it in the studio, or create a new one.',
  'too-many': 'The account sends to too many streams at once; stop another source first.',
  unavailable: 'The service cannot take video now; try again.',
};

// Fragment durations. With low latency a part can end at any frame. Without, a segment is complete
// once the next fragment arrives, and longer fragments have less box overhead.
const LOW_LATENCY_FRAGMENT_MS = 20;
const FRAGMENT_MS = 100;

// A source lease lasts at least 6 s, so that two late renewals in a row do no harm.
const RENEW_INTERVAL_MS = 2_000;

// Checked before the database call: PostgreSQL rejects a NUL character with an error, which would be logged as
// a failure of the service.
const POSSIBLE_KEY = /^[\x21-\x7e]{1,128}$/;

// An encoder ends at most 7 s after its source has left; senders wait for 10 s.
const BLOCKED_MS_MAX = 8_000;

/** A new source waits until one of these sources has made its last segment. */
interface Blocker {
  readonly sources: readonly LiveSource[];
  /** Why the other one is refused when none ends. */
  readonly reason: RefusalReason;
}

/** What sources have used since the start of the process. */
export interface SourceTotals {
  cpuSeconds: number;
  restarts: number;
  bytes: number;
}

/** Admits the sources of all streams on this node, and renews and releases their leases. */
export class SourceRegistry implements Ingest {
  /** Refused sources, by reason. */
  readonly refusals = new Map<RefusalReason, number>();
  private readonly sources = new Map<string, LiveSource>();
  /** Pending releases of leases: a new source waits for them, or the old lease would refuse it. */
  private readonly releasing = new Set<Promise<void>>();
  private readonly inputQueue = new InputQueue();
  private readonly timer: Timer;
  private isStopping = false;
  private readonly endedTotals: SourceTotals = { cpuSeconds: 0, restarts: 0, bytes: 0 };

  constructor(private readonly options: SourceRegistryOptions) {
    this.timer = runtime.setInterval(() => this.tick(), RENEW_INTERVAL_MS);
  }

  async open(request: SourceRequest): Promise<SourceSession> {
    try {
      return new QueuedSession(await this.openSource(request), this.inputQueue);
    } catch (error) {
      const isExpected = error instanceof SourceRefused || error instanceof Unavailable;
      if (!isExpected) this.options.logger.error({ err: error }, 'source could not be opened');
      const refusal = error instanceof SourceRefused ? error : refuse('unavailable');
      this.refusals.set(refusal.reason, (this.refusals.get(refusal.reason) ?? 0) + 1);
      throw refusal;
    }
  }

  /** The sources that are connected now. */
  liveSources(): Iterable<LiveSource> {
    return this.sources.values();
  }

  /** Totals over all sources since the start, those that ended included. */
  totals(): SourceTotals {
    const total = { ...this.endedTotals };
    for (const source of this.sources.values()) addUsage(total, source);
    return total;
  }

  /** Ends all sources, releases their leases and refuses new sources. */
  async stop(): Promise<void> {
    this.isStopping = true;
    runtime.clearTimer(this.timer);
    const sources = [...this.sources.values()];
    for (const source of sources) {
      source.stop({ reason: 'stopping', message: 'The service is stopping; connect again.' });
    }
    await Promise.all(sources.map((source) => this.closeSource(source)));
  }

  private async openSource(request: SourceRequest): Promise<LiveSource> {
    if (this.isStopping) throw refuse('unavailable');
    if (!POSSIBLE_KEY.test(request.key)) throw refuse('unknown-key');
    const { store, newId, packager, config } = this.options;
    const unavailableReason = await this.options.unavailableReason();
    if (unavailableReason !== null) throw new SourceRefused('unavailable', unavailableReason);
    await Promise.all(this.releasing);
    const id = newId();
    const opened = await store.openSource({
      key: request.key,
      ...(request.streamId !== undefined && { streamId: request.streamId }),
      session: id,
      kind: request.kind,
      nowMs: packager.nowMs(),
      graceMs: leaseDurationMs(config),
      sourcesMax: config.accountSourcesMax,
    });
    if (opened.outcome !== 'opened') throw refuse(opened.outcome);
    try {
      return await this.startSource(id, request, opened.stream);
    } catch (error) {
      await this.release(opened.stream.id, id);
      throw error;
    }
  }

  private async startSource(
    id: string,
    request: SourceRequest,
    stream: OpenedStream,
  ): Promise<LiveSource> {
    const { channels, packager, config, logger } = this.options;
    const { kind, container, address } = request;
    const streamId = stream.id;
    const sourceLogger = logger.child({ stream: streamId, kind, address });
    const channel = await channels.open(streamId);
    channels.setStream(channel, stream);
    for (let blocker = this.blockerOf(stream); blocker; blocker = this.blockerOf(stream))
      await waitForOne(blocker);
    if (this.isStopping) throw refuse('unavailable');
    const createPackager = (onSourceFailed: (end: SourceEnd) => void) =>
      new Packager(packager, {
        container,
        settings: {
          ...config,
          fragmentMs: config.latency === 'low' ? LOW_LATENCY_FRAGMENT_MS : FRAGMENT_MS,
        },
        segmentMs: config.segmentMs,
        partMs: config.latency === 'low' ? PART_MS : null,
        logger: sourceLogger,
        sink: channel.sink(onSourceFailed),
      });
    const { nowMs } = packager;
    const { producer } = stream;
    const source = new LiveSource(id, producer, kind, channel, createPackager, nowMs, sourceLogger);
    this.sources.set(streamId, source);
    sourceLogger.info('source connected');
    void source.closed.then(({ message }) => {
      sourceLogger.info({ reason: message }, 'source ended');
      void this.closeSource(source);
    });
    return source;
  }

  /** What must end before a source of this stream may start; null: nothing. */
  private blockerOf({ id, producer }: OpenedStream): Blocker | null {
    const unfinished = [...this.sources.values()].filter(({ isFinished }) => !isFinished);
    // The previous source may still be encoding its last segment. Meanwhile the lease of the new one can
    // expire and another one open: that one waits for the new one, which ends as its lease is lost.
    const previous = unfinished.filter(({ streamId }) => streamId === id);
    if (previous.length > 0) return { sources: previous, reason: 'busy' };
    // A source that has left has no lease, but its encoder runs on for some seconds.
    const others = unfinished.filter((source) => source.producer === producer);
    const hasRoom = others.length < this.options.config.accountSourcesMax;
    return hasRoom ? null : { sources: others, reason: 'too-many' };
  }

  /** Releases the lease of an ended source, and removes the source once its last segment is made. */
  private async closeSource(source: LiveSource): Promise<void> {
    await this.release(source.streamId, source.id);
    await source.finished;
    if (this.sources.get(source.streamId) !== source) return;
    this.sources.delete(source.streamId);
    addUsage(this.endedTotals, source);
  }

  /** Releases a lease. An error is only logged, because the lease also expires. */
  private async release(streamId: string, session: string): Promise<void> {
    const { store, packager, config, logger } = this.options;
    // A source whose node stops has not left: it gets the time of a node that died.
    const graceMs = this.isStopping ? leaseDurationMs(config) : config.sourceGraceMs;
    const released = store
      .releaseSource({ streamId, session, nowMs: packager.nowMs(), graceMs })
      .catch((error) => logMaintenanceError(logger, error));
    this.releasing.add(released);
    await released;
    this.releasing.delete(released);
  }

  private tick(): void {
    for (const source of this.sources.values()) if (source.isOpen) void this.renew(source);
    this.options.channels.checkIdle((streamId) => this.sources.has(streamId));
  }

  private async renew(source: LiveSource): Promise<void> {
    const { channels, store, packager, config, logger } = this.options;
    const { streamId, channel, id } = source;
    try {
      const renewed = await store.renewSource({
        streamId,
        session: id,
        nowMs: packager.nowMs(),
        graceMs: leaseDurationMs(config),
        health: source.health(),
      });
      if (renewed.outcome !== 'removed') channels.setStream(channel, renewed);
      if (renewed.outcome === 'ended' || renewed.outcome === 'removed') {
        source.stop({ reason: 'ended', message: 'The stream has ended.' });
      } else if (renewed.outcome === 'lost') {
        source.stop({ reason: 'replaced', message: 'Another source has taken over the stream.' });
      }
    } catch (error) {
      logMaintenanceError(logger, error);
    }
  }
}

/** @throws SourceRefused when no source ends in time */
async function waitForOne({ sources, reason }: Blocker): Promise<void> {
  await waitAtMost(BLOCKED_MS_MAX, Promise.race(sources.map(({ finished }) => finished)));
  if (!sources.some(({ isFinished }) => isFinished)) throw refuse(reason);
}

function addUsage(total: SourceTotals, { packager }: LiveSource): void {
  const { cpuSeconds, restarts, bytes } = packager.state();
  total.cpuSeconds += cpuSeconds;
  total.restarts += restarts;
  total.bytes += bytes;
}

/** How long a stream lives without renewals: only a node that died stops renewing (M-7). */
function leaseDurationMs({ sourceGraceMs }: MediaConfig): number {
  return Math.max(sourceGraceMs, NODE_GRACE_MS);
}

function refuse(reason: RefusalReason): SourceRefused {
  return new SourceRefused(reason, REFUSAL_MESSAGES[reason]);
}
