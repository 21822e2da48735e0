import type { Restriction } from '../../../protocol/moderation.ts';
import {
  type BanChanges,
  BannedSeats,
  type SeatOfStream,
} from '../../auth/viewer-tokens/checked-viewers.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import {
  type ChangedChats,
  type chatStateProcedures,
  LIFTED,
  type ModeratedChatRow,
  REVISIONS_READ_MAX,
  type RestrictionsRow,
} from './chat-state-sql.ts';

/** The cached state of a moderated chat. */
interface CachedChat {
  readonly slowModeMs: number;
  readonly paused: boolean;
  /** Muted seats with the end of the mute, Unix ms; null: for the whole show. */
  readonly muted: Map<number, number | null>;
  /** Restrictions are known up to this revision. */
  readonly revision: number;
  readonly unnumbered: number;
}

/** A changed chat, with the restrictions to apply. */
interface ChatChange {
  readonly chat: ModeratedChatRow;
  readonly restrictions: readonly RestrictionsRow[];
  /** The revision that the restrictions follow; null: they are all that the stream has. */
  readonly after: number | null;
}

/** Receives the changes of a stream's bans; resolves when they are in effect. */
export type BansListener = (streamId: string, changes: BanChanges) => Promise<void>;

/** Receives seats that were just banned. */
export type BannedListener = (streamId: string, seats: readonly number[]) => void;

const UNMODERATED = { slowModeMs: 0, paused: false };

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
/** Restrictions that are applied in one turn of the event loop: 1.7 million at once stopped it for 1.4 s. */
const APPLIED_AT_ONCE = 1_000;

/** @returns a function that waits for the next turn of the event loop once its arguments have reached a sum */
function pauseAfter(most: number): (count: number) => Promise<void> | undefined {
  let sum = 0;
  return (count) => {
    sum += count;
    if (sum < most) return undefined;
    sum = 0;
    return new Promise<void>((resolve) => runtime.setImmediate(resolve));
  };
}

function isLifted([, until]: RestrictionsRow['seats'][number]): boolean {
  return until === LIFTED;
}

function seatsOf(kind: Restriction, restrictions: readonly RestrictionsRow[]) {
  return restrictions.find((row) => row.kind === kind)?.seats ?? [];
}

/** The chat after a change. The map of mutes is changed in place: a chat may have 10,000. */
function changedChat(
  before: CachedChat | undefined,
  { chat, restrictions, after }: ChatChange,
): CachedChat {
  const { slowModeMs, paused, revision, unnumbered } = chat;
  const muted = (after !== null && before?.muted) || new Map<number, number | null>();
  for (const restriction of seatsOf('muted', restrictions)) {
    if (isLifted(restriction)) muted.delete(restriction[0]);
    else muted.set(...restriction);
  }
  return { slowModeMs, paused, muted, revision, unnumbered };
}

/**
 * This node's copy of chat modes, mutes and bans. Several times a second it compares the number of
 * the last change with its own and reads the chats that changed since, with their changed restrictions. It
 * keeps its state while the database is unavailable (SPEC N-10).
 */
export class ModerationCache {
  /** Checked at every viewer request. */
  readonly bans = new BannedSeats();
  readonly #chats = new Map<string, CachedChat>();
  #lastChange = 0;
  #nextFullReadMs: number;
  /** The last read that was asked for. Reads run one after another, so that none applies an older state. */
  #lastRead: Promise<unknown> = Promise.resolve();
  /** A read of changes that has not begun yet. */
  #waitingRead: Promise<void> | null = null;
  #fullRead: Promise<void> | null = null;
  /** How often another database was found, and which of them was read whole. */
  #database = 0;
  #databaseRead = 0;
  #timer: Timer | null = null;
  readonly #bannedListeners: BannedListener[] = [];
  #bansListener: BansListener | null = null;

  constructor(private readonly options: ModerationCacheOptions) {
    this.#nextFullReadMs = options.nowMs() + FULL_READ_MS;
  }

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

  /**
   * Sets the one listener that gets the bans of each stream at once, and then each change, before `onBanned`
   * listeners.
   */
  subscribeToBans(listener: BansListener): void {
    this.#bansListener = listener;
    for (const [streamId, seats] of this.bans.entries())
      void listener(streamId, { banned: [...seats], lifted: [] });
  }

  /** Starts the periodic refresh. */
  start(): void {
    this.#timer ??= runtime.setInterval(
      () => void this.refresh().then(() => this.readAllWhenDue()),
      REFRESH_MS,
    );
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
      await this.#readChanges();
      // Another one may be found while this one is read.
      while (this.#databaseRead !== this.#database) await this.#readAll();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /**
   * Reads all chats once an hour, and soon after a failure. It takes seconds when an account restricted a million
   * viewers; calls of `refresh` do not wait for it.
   */
  async readAllWhenDue(): Promise<void> {
    if (this.options.nowMs() <= this.#nextFullReadMs) return;
    try {
      await this.#readAll();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #onFailure(error: unknown): void {
    // After a failover that lost commits, change numbers are issued again: a node that read the lost changes
    // would skip the new ones for up to an hour (N-22). It waits, since the database may be overloaded.
    const nowMs = this.options.nowMs();
    const nextMs = nowMs + FULL_READ_AFTER_FAILURE_MS;
    // An earlier one stays, unless it has just failed: failures in a row must not put it off.
    if (this.#nextFullReadMs < nowMs || this.#nextFullReadMs > nextMs)
      this.#nextFullReadMs = nextMs;
    if (!(error instanceof Unavailable)) this.options.onError(error);
  }

  #afterLastRead<T>(read: () => Promise<T>): Promise<T> {
    const result = this.#lastRead.then(read);
    this.#lastRead = result.catch(() => {});
    return result;
  }

  /** Calls before it begins share it: a read that runs may have begun before their commits. */
  #readChanges(): Promise<void> {
    this.#waitingRead ??= this.#afterLastRead(async () => {
      this.#waitingRead = null;
      const last = await this.options.store.lastModerationChange({});
      // A smaller number than before means another database, such as a promoted replica (N-22).
      if (last < this.#lastChange) {
        this.#database++;
        this.#lastChange = last;
      }
      if (last === this.#lastChange) return;
      let next: number | null = this.#lastChange;
      while (next !== null) {
        const page: ChangedChats = await this.#readPage(next, { isFull: false });
        this.#lastChange = Math.max(this.#lastChange, page.chats.at(-1)?.changed ?? 0);
        next = page.next;
      }
      this.#lastChange = Math.max(this.#lastChange, last);
    });
    return this.#waitingRead;
  }

  #readAll(): Promise<void> {
    this.#fullRead ??= this.#readAllPages().finally(() => {
      this.#fullRead = null;
    });
    return this.#fullRead;
  }

  /** Reads of changes run between its pages. */
  async #readAllPages(): Promise<void> {
    const database = this.#database;
    // A failure meanwhile, also of a read of changes, makes it earlier.
    this.#nextFullReadMs = this.options.nowMs() + FULL_READ_MS;
    const found = new Set<string>();
    let next: number | null = 0;
    while (next !== null) {
      const after: number = next;
      next = await this.#afterLastRead(() => this.#readFullPage(after, found));
    }
    this.#databaseRead = database;
  }

  async #readFullPage(after: number, found: Set<string>): Promise<number | null> {
    const { chats, next } = await this.#readPage(after, { isFull: true });
    for (const { streamId } of chats) found.add(streamId);
    // Before the next read of changes, which may find a chat that is not in the page.
    if (next === null) await this.#forgetAllExcept(found);
    return next;
  }

  /** After a full read, removes what streams had that have no chat state any more. */
  async #forgetAllExcept(found: ReadonlySet<string>): Promise<void> {
    for (const streamId of [...this.#chats.keys()])
      if (!found.has(streamId)) this.#chats.delete(streamId);
    // The workers confirm each.
    let lifting: Promise<void>[] = [];
    const pause = pauseAfter(APPLIED_AT_ONCE);
    for (const [streamId, seats] of [...this.bans.entries()]) {
      if (found.has(streamId)) continue;
      const lifted = [...seats];
      lifting.push(this.#changeBans(streamId, { banned: [], lifted }));
      const pausing = pause(lifted.length);
      if (!pausing) continue;
      await Promise.all([...lifting, pausing]);
      lifting = [];
    }
    await Promise.all(lifting);
  }

  /** Reads and applies a page of the chats whose change number exceeds `after`. */
  async #readPage(after: number, { isFull }: { isFull: boolean }): Promise<ChangedChats> {
    const nowMs = this.options.nowMs();
    const page = await this.options.store.changedChats({ after, nowMs });
    const known = page.chats.map((chat) => ({
      chat,
      after: isFull ? null : this.#knownRevision(chat),
    }));
    const restrictions = await this.#readRestrictions(known, nowMs);
    const pause = pauseAfter(APPLIED_AT_ONCE);
    for (const { chat, after } of known) {
      const ofChat = restrictions.get(chat.streamId) ?? [];
      await this.#apply({ chat, after, restrictions: ofChat });
      for (const { seats } of ofChat) await pause(seats.length);
    }
    return page;
  }

  /** Reads the restrictions that the cache does not know, by stream. */
  async #readRestrictions(
    known: readonly Pick<ChatChange, 'chat' | 'after'>[],
    nowMs: number,
  ): Promise<Map<string, RestrictionsRow[]>> {
    const chats = known
      .filter(({ chat, after }) => after !== chat.revision)
      .map(({ chat: { streamId }, after }) => ({ streamId, after }));
    if (chats.length === 0) return new Map();
    const rows = await this.options.store.changedRestrictions({ chats, nowMs });
    return Map.groupBy(rows, ({ streamId }) => streamId);
  }

  /** The revision after which restrictions have to be read; null: read all. */
  #knownRevision({ streamId, revision, unnumbered }: ModeratedChatRow): number | null {
    const chat = this.#chats.get(streamId);
    if (!chat || chat.unnumbered !== unnumbered) return null;
    const missed = revision - chat.revision;
    return missed >= 0 && missed <= REVISIONS_READ_MAX ? chat.revision : null;
  }

  async #apply(change: ChatChange): Promise<void> {
    const { chat, restrictions, after } = change;
    const { streamId } = chat;
    this.#chats.set(streamId, changedChat(this.#chats.get(streamId), change));
    const seats = seatsOf('banned', restrictions);
    const banned = seats.filter((seat) => !isLifted(seat)).map(([seat]) => seat);
    if (after !== null) {
      await this.#changeBans(streamId, {
        banned,
        lifted: seats.filter(isLifted).map(([seat]) => seat),
      });
      return;
    }
    const all = new Set(banned);
    const lifted = [...this.bans.of(streamId)].filter((seat) => !all.has(seat));
    await this.#changeBans(streamId, { banned, lifted });
  }

  async #changeBans(streamId: string, { banned, lifted }: BanChanges): Promise<void> {
    const newlyBanned = this.bans.change(streamId, { banned, lifted });
    if (newlyBanned.length > 0 || lifted.length > 0)
      await this.#bansListener?.(streamId, { banned: newlyBanned, lifted });
    if (newlyBanned.length === 0) return;
    for (const listener of this.#bannedListeners) listener(streamId, newlyBanned);
  }
}
