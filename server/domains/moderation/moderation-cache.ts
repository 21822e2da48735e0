import { BannedSeats, type SeatOfStream } from '../../auth/viewer-tokens/checked-viewers.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { chatStateProcedures, ModeratedChatRow } from './chat-state-sql.ts';

/** The cached state of a moderated chat. */
interface CachedChat {
  readonly slowModeMs: number;
  readonly paused: boolean;
  /** Muted seats with the end of the mute, Unix ms; null: for the whole show. */
  readonly muted: ReadonlyMap<number, number | null>;
}

/** Receives all banned seats of a stream whenever they change; resolves when they are in effect. */
export type BansListener = (streamId: string, banned: ReadonlySet<number>) => Promise<void>;

/** Receives seats that were just banned. */
export type BannedListener = (streamId: string, seats: readonly number[]) => void;

const UNMODERATED: CachedChat = { slowModeMs: 0, paused: false, muted: new Map() };

export interface ModerationCacheOptions {
  readonly store: Calls<typeof chatStateProcedures>;
  readonly nowMs: () => number;
  /** Receives errors of reads, except Unavailable. */
  readonly onError: (error: unknown) => void;
}

// A ban holds on every node within a second (SPEC C-21): this period plus the time of two reads.
const REFRESH_MS = 400;
// A full read drops chats of streams that ended long ago.
const FULL_READ_MS = 3600_000;
const FULL_READ_AFTER_FAILURE_MS = 10_000;

function cachedChat({ slowModeMs, paused, muted }: ModeratedChatRow): CachedChat {
  return { slowModeMs, paused, muted: new Map(muted) };
}

/**
 * This node's copy of chat modes, mutes and bans. Several times a second it compares the number of
 * the last change with its own and reads the chats that changed since. It keeps its state while the
 * database is unavailable (SPEC N-10).
 */
export class ModerationCache {
  /** Checked at every viewer request. */
  readonly bans = new BannedSeats();
  #chats = new Map<string, CachedChat>();
  #lastChange = 0;
  #nextFullReadMs = Number.NEGATIVE_INFINITY;
  #pendingRead: Promise<void> | null = null;
  #timer: Timer | null = null;
  readonly #bannedListeners: BannedListener[] = [];
  #bansListener: BansListener | null = null;

  constructor(private readonly options: ModerationCacheOptions) {}

  /** The mode of a stream's chat; the default if it was never moderated. */
  chatMode(streamId: string): Pick<CachedChat, 'slowModeMs' | 'paused'> {
    return this.#chats.get(streamId) ?? UNMODERATED;
  }

  /** The end of a viewer's mute, Unix ms; null: for the whole show; false: not muted. */
  mutedUntil({ streamId, seat }: SeatOfStream): number | null | false {
    const until = this.#chats.get(streamId)?.muted.get(seat);
    if (until === undefined) return false;
    return until === null || until > this.options.nowMs() ? until : false;
  }

  /** Adds a listener for new bans. */
  onBanned(listener: BannedListener): void {
    this.#bannedListeners.push(listener);
  }

  /** Sets the one listener that gets all bans, now and after each change, before `onBanned` listeners. */
  subscribeToBans(listener: BansListener): void {
    this.#bansListener = listener;
    for (const [streamId, banned] of this.bans.entries()) void listener(streamId, banned);
  }

  /** Starts the periodic refresh. */
  start(): void {
    this.#timer ??= runtime.setInterval(() => void this.refresh(), REFRESH_MS);
  }

  stop(): void {
    if (this.#timer) runtime.clearTimer(this.#timer);
    this.#timer = null;
  }

  /**
   * Resolves when all changes that were committed before the call are in effect, or without an effect
   * when the read fails.
   */
  async refresh(): Promise<void> {
    try {
      // A pending read may have started before the commit.
      await this.#pendingRead?.catch(() => {});
      this.#pendingRead ??= this.#read().finally(() => {
        this.#pendingRead = null;
      });
      await this.#pendingRead;
    } catch (error) {
      // After a failover that lost commits, change numbers are issued again: a node that read the lost changes
      // would skip the new ones for up to an hour (N-22). It waits, since the database may be overloaded.
      const nowMs = this.options.nowMs();
      const nextMs = nowMs + FULL_READ_AFTER_FAILURE_MS;
      // An earlier one stays, unless it has just failed: failures in a row must not put it off.
      if (this.#nextFullReadMs < nowMs || this.#nextFullReadMs > nextMs)
        this.#nextFullReadMs = nextMs;
      if (!(error instanceof Unavailable)) this.options.onError(error);
    }
  }

  async #read(): Promise<void> {
    const nowMs = this.options.nowMs();
    const last = await this.options.store.lastModerationChange({});
    // A smaller number than before means another database, such as a promoted replica (N-22).
    const isFull = last < this.#lastChange || nowMs > this.#nextFullReadMs;
    if (last === this.#lastChange && !isFull) return;
    const chats = await this.#changedAfter(isFull ? 0 : this.#lastChange, nowMs);
    // A full read replaces the map in one step. Chats that were missing from it would count as unmoderated while
    // the workers confirm the bans of one stream after another.
    if (isFull) {
      this.#chats = new Map(chats.map((chat) => [chat.streamId, cachedChat(chat)]));
      await this.#liftAllExcept(chats);
    }
    for (const chat of chats) {
      const seats = await this.#apply(chat);
      if (seats.length === 0) continue;
      for (const listener of this.#bannedListeners) listener(chat.streamId, seats);
    }
    this.#lastChange = Math.max(last, chats.at(-1)?.changed ?? 0);
    if (isFull) this.#nextFullReadMs = nowMs + FULL_READ_MS;
  }

  /** After a full read, lifts the bans of streams that have none any more. */
  async #liftAllExcept(chats: readonly ModeratedChatRow[]): Promise<void> {
    const withBans = new Set(
      chats.filter(({ banned }) => banned.length > 0).map(({ streamId }) => streamId),
    );
    for (const [streamId] of [...this.bans.entries()]) {
      if (withBans.has(streamId)) continue;
      this.bans.set(streamId, new Set());
      await this.#bansListener?.(streamId, new Set());
    }
  }

  async #changedAfter(after: number, nowMs: number): Promise<ModeratedChatRow[]> {
    const chats: ModeratedChatRow[] = [];
    for (let next = after; ; next = chats.at(-1)?.changed ?? next) {
      const page = await this.options.store.changedChats({ after: next, nowMs });
      if (page.length === 0) return chats;
      chats.push(...page);
    }
  }

  /** Caches a chat. @returns the seats that are newly banned */
  async #apply(chat: ModeratedChatRow): Promise<readonly number[]> {
    const { streamId, banned } = chat;
    const seats = new Set(banned);
    const hadBans = this.bans.has(streamId);
    this.#chats.set(streamId, cachedChat(chat));
    const newlyBanned = this.bans.set(streamId, seats);
    if (seats.size > 0 || hadBans) await this.#bansListener?.(streamId, seats);
    return newlyBanned;
  }
}
