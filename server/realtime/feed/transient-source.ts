import type { ViewerChats } from './interval-body.ts';

/**
 * What viewers posted and is not sealed yet, in one process. It is transient: a crash may lose it
 * (C-11).
 */
export interface TransientSource {
  /** Removes and returns everything posted since the last call, by stream id (C-7). */
  drain(): Map<string, ViewerChats>;
}

/** Posts of one node on their way to the node that seals. */
export interface TransientBatch {
  /** Sequence number, separate for each node. */
  readonly number: number;
  /** Whether this node sent the batch before, with unknown result. */
  readonly isRepeat: boolean;
  readonly bytes: Uint8Array;
}

/**
 * Result of sending a batch: `accepted`, now or before; `rejected`, there was no room for it;
 * `lost`, Redis lost track of it, and it may be sealed already.
 */
export type BatchResult = 'accepted' | 'rejected' | 'lost';

/**
 * What viewers posted on one node among several. Each node sends its posts in batches to the
 * `SealCoordinator`; the node that seals merges the batches of all nodes.
 */
export interface SharedTransientSource {
  /**
   * The batch to send next: the posts since the last one, or the same batch again while its result
   * is unknown.
   * @returns null when there are no posts
   */
  nextBatch(): TransientBatch | null;
  /** Reports the result of the batch that `nextBatch` returned last. */
  settleBatch(result: BatchResult): void;
  /** Whether no posts on this node wait to be sent or settled. */
  isEmpty(): boolean;
  /**
   * Merges what all nodes sent for an interval, by stream id.
   * @param batches bytes of their batches; unreadable ones are left out
   */
  merge(batches: readonly Uint8Array[]): Map<string, ViewerChats>;
}
