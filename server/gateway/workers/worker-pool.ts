import type { Store } from '../../app/procedures.ts';
import type { ViewerTokens } from '../../auth/viewer-tokens/viewer-tokens.ts';
import type { ChatRooms } from '../../domains/moderation/chat-rooms.ts';
import type { RequestLog } from '../../http/request-log.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type {
  RealtimeBackend,
  RealtimeThreads,
} from '../../realtime/coordination/realtime-backend.ts';
import type { SeatMemory } from '../../realtime/presence/presence-cells.ts';
import type { FrontOperation, GatewayBackend } from '../gateway-backend.ts';
import type { Begin, Refused, Report, ThreadCalls, UnavailableReasons } from './messages.ts';
import { sharedCopy } from './shared-bodies.ts';
import { ClockPublisher } from './shared-time.ts';
import { Thread } from './worker.ts';

/** What the threads share with the service. */
export interface SharedParts {
  readonly clock: Clock;
  readonly realtime: RealtimeBackend;
  readonly store: Pick<Store, 'readSealed'>;
  readonly viewerTokens: Pick<ViewerTokens, 'check'>;
  readonly rooms: Pick<ChatRooms, 'shareBans'>;
  readonly requests: Pick<RequestLog, 'logRejected'>;
  /** Of each thread. */
  readonly tokenCacheSize: number;
}

export interface ViewerThreadsOptions extends SharedParts {
  readonly count: number;
  /** What a front of this thread would answer by itself. */
  readonly front: GatewayBackend;
  /** Told what must not happen. */
  readonly onDefect: (reason: string) => void;
  /** Told when a thread is gone: its viewers are answered by nobody, so the process should end. */
  readonly onLost: (reason: string) => void;
}

/** Where the threads listen, and what is behind them. */
export type Place = Pick<Begin, 'host' | 'port' | 'path' | 'secret' | 'corsOrigin' | 'edgeCache'>;

const TICK_MS = 20;
const TURN_TICKS = 12;

/**
 * Threads that answer viewers, each with a front on one port (`--workers`). They register in the rings
 * of this thread, whose memory they share, and show what this thread seals. Everything else is here:
 * what they do not know they ask, and what they cannot do they pass on to the server of this thread.
 */
export class ViewerThreads implements RealtimeThreads {
  private threads: Thread[] = [];
  private readonly time: ClockPublisher;
  private unavailable: UnavailableReasons = { registrations: null, feed: null };
  private readonly banned = new Map<string, ReadonlySet<number>>();
  private readonly calls: ThreadCalls;
  private timer: Timer | null = null;
  private ticks = 0;

  constructor(private readonly options: ViewerThreadsOptions) {
    const { clock, viewerTokens, store } = options;
    this.time = new ClockPublisher(clock);
    this.calls = {
      check: (token) => viewerTokens.check(token),
      readSealed: (input) => store.readSealed(input),
    };
  }

  /** Begins to listen. @throws Error when the port cannot be had, or a thread not begin */
  async begin(place: Place): Promise<void> {
    const { realtime, rooms, count } = this.options;
    realtime.share(this);
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.tick();
    const starting = Array.from({ length: count }, () => this.start(place));
    rooms.shareBans((streamId, seats) => void this.ban(streamId, seats));
    await Promise.all(starting);
  }

  shared(streamId: string, memory: SeatMemory): void {
    for (const thread of this.threads) thread.tell({ kind: 'ring', streamId, memory });
  }

  dropped(streamId: string): void {
    for (const thread of this.threads) thread.tell({ kind: 'ring-dropped', streamId });
  }

  appended(interval: number, bodies: ReadonlyMap<string, Uint8Array>): void {
    const shared = sharedCopy(bodies);
    for (const thread of this.threads) thread.tell({ kind: 'appended', interval, bodies: shared });
  }

  skipped(interval: number): void {
    for (const thread of this.threads) thread.tell({ kind: 'skipped', interval });
  }

  refused(reason: string): void {
    for (const thread of this.threads) thread.tell({ kind: 'refused', reason });
  }

  /** As of their last reports. */
  load(): { held: number; listeners: number } {
    const sum = (of: (thread: Thread) => number) =>
      this.threads.reduce((total, thread) => total + of(thread), 0);
    return { held: sum(({ held }) => held), listeners: sum(({ listeners }) => listeners) };
  }

  /** Has them answer what is held and end event streams; they take no more of either. */
  async drain(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.drain()));
  }

  /** Closes the port, and resolves when all answers are written. */
  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.close()));
  }

  /** Ends them, whatever they do. */
  stop(): void {
    if (this.timer) clearInterval(this.timer);
    for (const thread of this.threads) thread.end();
  }

  private start(place: Place): Promise<void> {
    const { realtime, front, tokenCacheSize, onDefect, onLost } = this.options;
    const onReport = (report: Report) => this.add(report);
    const thread = new Thread({ calls: this.calls, onReport, onDefect, onLost });
    // From here on it is told of what changes.
    this.threads.push(thread);
    return thread.begin({
      kind: 'begin',
      ...place,
      allow: {
        heartbeats: front.heartbeats?.allow ?? null,
        feed: front.feed?.allow ?? null,
      },
      tokenCacheSize,
      sealed: realtime.feed.sealedTo(),
      time: this.time.memory,
      unavailable: this.unavailable,
    });
  }

  private async ban(streamId: string, seats: ReadonlySet<number>): Promise<void> {
    const { realtime, onDefect } = this.options;
    const before = this.banned.get(streamId);
    if (seats.size > 0) this.banned.set(streamId, seats);
    else this.banned.delete(streamId);
    await Promise.all(this.threads.map((thread) => thread.ban(streamId, seats)));
    // They were taken out before, but a thread that had not heard of it may have let them in again.
    const gone = [...seats].filter((seat) => !before?.has(seat));
    try {
      await realtime.presence.evict(streamId, gone);
    } catch (error) {
      onDefect(Bun.inspect(error));
    }
  }

  private add({ read, heartbeats, intervals, refused }: Report): void {
    const { realtime, front } = this.options;
    this.log(front.heartbeats, refused.heartbeats);
    this.log(front.feed, refused.intervals);
    for (const streamId of read) realtime.noteRead(streamId);
    front.heartbeats?.counter.merge(heartbeats);
    front.feed?.counter.merge(intervals);
  }

  private log(of: FrontOperation | null, refused: Refused | null): void {
    if (!of || !refused) return;
    const { requestId, reason, count } = refused;
    const { operation } = of.counter;
    this.options.requests.logRejected(operation, requestId, 503, new Unavailable(reason), count);
  }

  // Not by shared memory: who hears of it has heard of all that was sealed before, and serves that.
  private tellUnavailable(unavailable: UnavailableReasons): void {
    const { registrations, feed } = this.unavailable;
    if (unavailable.registrations === registrations && unavailable.feed === feed) return;
    this.unavailable = unavailable;
    for (const thread of this.threads) thread.tell({ kind: 'away', unavailable });
  }

  private tick(): void {
    const { realtime } = this.options;
    this.time.tell();
    this.tellUnavailable({
      registrations: realtime.presence.unavailable(),
      feed: realtime.unavailable(),
    });
    // Sealing does it too, but not while the database is unavailable.
    if (++this.ticks % TURN_TICKS === 0) realtime.presence.turn();
  }
}
