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
/** Restrictions that a full read applies in one turn of the event loop: 1.7 million at once stopped it for 1.4 s. */
const APPLIED_AT_ONCE = 1_000;

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
    const found = new Set<string>();
    let lastApplied = 0;
    let appliedAtOnce = 0;
    for await (const change of this.#changes(isFull, nowMs)) {
      await this.#apply(change);
      lastApplied = change.chat.changed;
      if (!isFull) continue;
      found.add(change.chat.streamId);
      for (const { seats } of change.restrictions) appliedAtOnce += seats.length;
      if (appliedAtOnce < APPLIED_AT_ONCE) continue;
      appliedAtOnce = 0;
      await new Promise<void>((resolve) => runtime.setImmediate(resolve));
    }
    if (isFull) await this.#forgetAllExcept(found);
    this.#lastChange = Math.max(last, lastApplied);
    if (isFull) this.#nextFullReadMs = nowMs + FULL_READ_MS;
  }

  /** After a full read, removes what streams had that have no chat state any more. */
  async #forgetAllExcept(found: ReadonlySet<string>): Promise<void> {
    for (const streamId of [...this.#chats.keys()])
      if (!found.has(streamId)) this.#chats.delete(streamId);
    for (const [streamId, seats] of [...this.bans.entries()]) {
      if (!found.has(streamId))
        await this.#changeBans(streamId, { banned: [], lifted: [...seats] });
    }
  }

  async *#changes(isFull: boolean, nowMs: number): AsyncGenerator<ChatChange> {
    let next: number | null = isFull ? 0 : this.#lastChange;
    while (next !== null) {
      const page: ChangedChats = await this.options.store.changedChats({ after: next, nowMs });
      const known = page.chats.map((chat) => ({
        chat,
        after: isFull ? null : this.#knownRevision(chat),
      }));
      const restrictions = await this.#readRestrictions(known, nowMs);
      for (const { chat, after } of known)
        yield { chat, after, restrictions: restrictions.get(chat.streamId) ?? [] };
      next = page.next;
    }
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
