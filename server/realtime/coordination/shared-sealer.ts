import { intervalStartMs } from '../../../protocol/interval.ts';
import { chatsOfNodes } from '../../domains/chat/chat-shared.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { Transient, ViewerChats } from '../feed/interval-body.ts';
import type { sealingProcedures } from '../feed/sealing-sql.ts';
import { formatCount } from '../presence/format-count.ts';
import type { Counts, SharedPresenceRegistry } from '../presence/presence-registry.ts';
import { countIsDue } from '../presence/view-count-events.ts';
import type { FeedFollower } from './feed-follower.ts';
import type { SealCoordinator, SealedEntry } from './seal-coordinator.ts';

export interface SharedSealerOptions {
  readonly clock: Clock;
  readonly store: Pick<Calls<typeof sealingProcedures>, 'sealInterval'>;
  readonly log: MemoryFeedLog;
  readonly logger: { error(about: object, line: string): void };
  readonly parts: Pick<SealCoordinator, 'collect' | 'publish'>;
  readonly presence: Pick<SharedPresenceRegistry, 'countsAtEndOf'>;
  readonly follower: Pick<FeedFollower, 'take'>;
  readonly random: () => number;
}

/**
 * Seals intervals for all nodes, from what all nodes handed over. Whoever else does the same at the
 * same time: the database takes one of them, and the others learn that they were late (N-4).
 */
export class SharedSealer {
  private sealing = false;

  constructor(private readonly options: SharedSealerOptions) {}

  /** Whether a sealing is under way here. One that the database does not answer may take for ever. */
  isBusy(): boolean {
    return this.sealing;
  }

  /**
   * Seals everything after what is known here, up to an interval that has ended; nothing when
   * another node was faster. Only one sealing at a time.
   * @throws Unavailable when Redis or the database is unavailable; the interval may be sealed all the same
   */
  async seal(interval: number): Promise<void> {
    if (this.sealing || interval <= this.options.log.sealedTo()) return;
    this.sealing = true;
    try {
      await this.sealTo(interval);
    } finally {
      this.sealing = false;
    }
  }

  private async sealTo(interval: number): Promise<void> {
    const { clock, store, log, logger, follower, parts } = this.options;
    const after = log.sealedTo();
    const transients = await this.transients(after, interval);
    const nowMs = Math.max(clock.nowMs(), intervalStartMs(interval + 1));
    const sealing = await store.sealInterval({ after, interval, nowMs, transients });
    if (sealing.outcome !== 'sealed') return;
    if (sealing.untold) logger.error({ interval }, `webhooks are not told: ${sealing.untold}`);
    const entry: SealedEntry = { after, interval, bodies: sealing.bodies };
    // Other nodes are told first: their readers are further away.
    const published = parts.publish(entry);
    await Promise.all([published, follower.take(entry)]);
  }

  private async transients(after: number, interval: number): Promise<Transient[]> {
    const { parts, presence, random } = this.options;
    const isDue = countIsDue(after + 1, interval);
    const collected = await parts.collect(after, interval, isDue);
    const counts = isDue ? await presence.countsAtEndOf(interval) : [];
    return transientsOf(chatsOfNodes(collected.parts, random), counts, collected.watched);
  }
}

/**
 * The parts of an interval that are not from the database (F-15, F-27).
 * @param counts of streams that have viewers or have just lost the last
 */
export function transientsOf(
  chats: ReadonlyMap<string, ViewerChats>,
  counts: Counts,
  watched: readonly string[],
): Transient[] {
  const counted = new Map([...watched.map((streamId) => [streamId, 0] as const), ...counts]);
  const streamIds = new Set([...counted.keys(), ...chats.keys()]);
  return [...streamIds].map((streamId) => {
    const value = counted.get(streamId);
    const viewCount = value === undefined ? null : { value, formatted: formatCount(value) };
    return { streamId, viewCount, chats: chats.get(streamId) ?? null };
  });
}
