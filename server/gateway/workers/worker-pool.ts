import type { BanChanges } from '../../auth/viewer-tokens/checked-viewers.ts';
import type { ViewerTokens } from '../../auth/viewer-tokens/viewer-tokens.ts';
import type { ModerationCache } from '../../domains/moderation/moderation-cache.ts';
import type { RequestLog } from '../../http/request-log.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { OpenFiles } from '../../platform/open-files.ts';
import { runtime } from '../../platform/runtime.ts';
import type {
  RealtimeBackend,
  RealtimeThreads,
} from '../../realtime/coordination/realtime-backend.ts';
import type { SeatMemory } from '../../realtime/presence/presence-ring.ts';
import type { GatewayBackend, GatewayOperation } from '../gateway-backend.ts';
import type {
  ListenTarget,
  MainThreadCalls,
  RejectedRequests,
  UnavailableReasons,
  WorkerReport,
} from './messages.ts';
import { ClockPublisher } from './worker-clock.ts';
import { WorkerHandle } from './worker-handle.ts';

/** The parts of the service that workers use. */
export interface WorkerServices {
  readonly clock: Clock;
  readonly realtime: RealtimeBackend;
  readonly store: Pick<MainThreadCalls, 'readSealed'>;
  readonly viewerTokens: Pick<ViewerTokens, 'check'>;
  readonly moderation: Pick<ModerationCache, 'subscribeToBans'>;
  readonly requests: Pick<RequestLog, 'logRejected'>;
  readonly tokenCacheSize: number;
  readonly trustProxy: boolean;
}

export interface WorkerPoolOptions extends WorkerServices {
  readonly openFiles: OpenFiles;
  readonly count: number;
  /** The backend of the main thread. */
  readonly backend: GatewayBackend;
  readonly onDefect: (reason: string) => void;
  /** A worker exited: its clients get no response, so the process should end. */
  readonly onFailed: (reason: string) => void;
}

const TICK_MS = 20;
const ADVANCE_TICKS = 12; // 240 ms, less than an interval

/**
 * The worker threads of the `--workers` option, each with a gateway on the same port. They register
 * viewers in the presence rings of the main thread, whose memory they share, and serve the intervals that
 * it seals. They call the main thread to verify new tokens and to read older intervals, and relay all
 * other requests to its origin server.
 */
export class WorkerPool implements RealtimeThreads {
  private readonly workers: WorkerHandle[] = [];
  private readonly clock: ClockPublisher;
  private unavailable: UnavailableReasons = { registrations: null, feed: null };
  private readonly calls: MainThreadCalls;
  private timer: Timer | null = null;
  private ticks = 0;

  constructor(private readonly options: WorkerPoolOptions) {
    const { clock, viewerTokens, store } = options;
    this.clock = new ClockPublisher(clock);
    this.calls = {
      verify: (token) => viewerTokens.check(token),
      readSealed: (input) => store.readSealed(input),
    };
  }

  /** Starts listening. @throws Error when a worker cannot start or listen on the port */
  async start(target: ListenTarget): Promise<void> {
    const { realtime, moderation, count } = this.options;
    realtime.share(this);
    this.timer = runtime.setInterval(() => this.tick(), TICK_MS);
    this.tick();
    const starting = Array.from({ length: count }, () => this.startWorker(target));
    moderation.subscribeToBans((streamId, changes) => this.changeBans(streamId, changes));
    await Promise.all(starting);
  }

  ringShared(streamId: string, memory: SeatMemory): void {
    for (const worker of this.workers) worker.send({ kind: 'ring', streamId, memory });
  }

  ringDropped(streamId: string): void {
    for (const worker of this.workers) worker.send({ kind: 'ring-dropped', streamId });
  }

  streamArchived(streamId: string): void {
    for (const worker of this.workers) worker.send({ kind: 'archived', streamId });
  }

  appended(interval: number, bodies: ReadonlyMap<string, Uint8Array>): void {
    const shared = sharedCopy(bodies);
    for (const worker of this.workers) worker.send({ kind: 'appended', interval, bodies: shared });
  }

  skipped(interval: number): void {
    for (const worker of this.workers) worker.send({ kind: 'skipped', interval });
  }

  waitersFailed(reason: string): void {
    for (const worker of this.workers) worker.send({ kind: 'long-polls-failed', reason });
  }

  /** The sums over the last report of each worker. */
  load(): { longPolls: number; eventStreams: number } {
    const total = { longPolls: 0, eventStreams: 0 };
    for (const { longPolls, eventStreams } of this.workers) {
      total.longPolls += longPolls;
      total.eventStreams += eventStreams;
    }
    return total;
  }

  /** Ends long polls and event streams; the workers take no more of either. */
  async drain(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.drain()));
  }

  /** Stops listening, and resolves when all responses are complete. */
  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
  }

  /** Ends all workers at once. */
  stop(): void {
    if (this.timer) runtime.clearTimer(this.timer);
    for (const worker of this.workers) worker.end();
  }

  private startWorker(target: ListenTarget): Promise<void> {
    const { realtime, backend, tokenCacheSize, trustProxy, openFiles, onDefect, onFailed } =
      this.options;
    const onReport = (report: WorkerReport) => this.mergeReport(report);
    const worker = new WorkerHandle({ calls: this.calls, onReport, onDefect, onFailed });
    // Before the start message is built, so that the worker receives all later changes.
    this.workers.push(worker);
    return worker.start({
      kind: 'start',
      ...target,
      allow: {
        heartbeats: backend.heartbeats?.allow ?? null,
        feed: backend.feed?.allow ?? null,
      },
      tokenCacheSize,
      trustProxy,
      sealed: realtime.feed.watermark(),
      time: this.clock.memory,
      unavailable: this.unavailable,
      openFiles: openFiles.state,
      threads: this.options.count,
    });
  }

  private async changeBans(streamId: string, changes: BanChanges): Promise<void> {
    const { realtime, onDefect } = this.options;
    await Promise.all(this.workers.map((worker) => worker.changeBans(streamId, changes)));
    // The main thread evicted the seats already, but a worker may have registered them again since.
    try {
      await realtime.presence.evict(streamId, changes.banned);
    } catch (error) {
      onDefect(Bun.inspect(error));
    }
  }

  private mergeReport({ streamsRead, heartbeats, intervals, rejected }: WorkerReport): void {
    const { realtime, backend } = this.options;
    this.logRejected(backend.heartbeats, rejected.heartbeats);
    this.logRejected(backend.feed, rejected.intervals);
    for (const streamId of streamsRead) realtime.markActive(streamId);
    backend.heartbeats?.counter.merge(heartbeats);
    backend.feed?.counter.merge(intervals);
  }

  private logRejected(
    gatewayOperation: GatewayOperation | null,
    rejected: RejectedRequests | null,
  ): void {
    if (!gatewayOperation || !rejected) return;
    const { requestId, reason, count } = rejected;
    const { operation } = gatewayOperation.counter;
    this.options.requests.logRejected(operation, requestId, 503, new Unavailable(reason), count);
  }

  // By message, not by shared memory: messages arrive in order, so a worker that receives a reason has
  // received all intervals that were sealed before, and serves them.
  private sendUnavailable(unavailable: UnavailableReasons): void {
    const { registrations, feed } = this.unavailable;
    if (unavailable.registrations === registrations && unavailable.feed === feed) return;
    this.unavailable = unavailable;
    for (const worker of this.workers) worker.send({ kind: 'unavailable', unavailable });
  }

  private tick(): void {
    const { realtime } = this.options;
    this.clock.publish();
    this.sendUnavailable({
      registrations: realtime.presence.unavailableReason(),
      feed: realtime.unavailableReason(),
    });
    // Sealing advances the rings too, but not while the database is unavailable (SPEC R-16).
    if (++this.ticks % ADVANCE_TICKS === 0) realtime.presence.advance();
  }
}

/** A copy of bodies in one block of shared memory, so that no thread copies them again. */
function sharedCopy(bodies: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> {
  let bytes = 0;
  for (const body of bodies.values()) bytes += body.length;
  const memory = new SharedArrayBuffer(bytes);
  const copies = new Map<string, Uint8Array>();
  let at = 0;
  for (const [streamId, body] of bodies) {
    const copy = new Uint8Array(memory, at, body.length);
    copy.set(body);
    copies.set(streamId, copy);
    at += body.length;
  }
  return copies;
}
