import type { SealedBody } from '../feed/sealed-sql.ts';
import type { BatchResult, TransientBatch } from '../feed/transient-source.ts';

/*
 * How nodes seal together
 *
 * Nodes share the database (PostgreSQL) and the coordinator (Redis). There is no leader: any node
 * seals any interval, and the sealing transaction decides between nodes that try at the same time.
 *
 * For each interval:
 *
 * 1. Report. When an interval ends by service time, each node replicates its presence, then reports
 *    the interval to the coordinator with a batch of its viewers' posts (`SealReporter`). A node
 *    whose clock is a little early is asked to report again.
 * 2. Seal. The last live node to report is told to seal, and has a claim for 100 ms. It collects
 *    the batches of all nodes and the view counts, for which it keeps the claim, and runs the sealing
 *    transaction, which moves the watermark (`SharedSealer`). The database accepts one sealing of an interval; others learn that
 *    they were late.
 * 3. Publish. That node publishes the bodies in the coordinator's log. All nodes follow it and
 *    serve the interval (`FeedFollower`). A node serves only what the database committed (I-1), and only
 *    after its publication: if the database loses an interval before, other nodes seal it again. Before the
 *    first sealing on a promoted standby a node names its timeline to the coordinator, which then refuses
 *    publications of the timeline before (`fence`).
 *
 * When an interval is late (`SealFailover`):
 *
 * - 30 ms after its report a node reads the watermark, in case the publication was lost. It
 *   publishes what it finds, and serves it.
 * - 120 ms after its report a node claims the interval. One node at a time gets the claim, and nodes
 *   that have not reported are not awaited until they report again.
 *
 * Failures:
 *
 * - A node that dies loses the posts it has not reported. Nothing else is lost.
 * - A coordinator that loses its data takes a new name. Batches that it stored are dropped, because
 *   they may be sealed already: no post is published twice.
 * - The coordinator forgets a node that is silent for a minute. A batch that the node repeats then counts
 *   as accepted, because it may be sealed already.
 * - While Redis or the database is unavailable nothing is sealed. Nodes answer 503 for intervals
 *   that are not sealed (`FeedHealth`) and catch up afterwards.
 * - When the database itself loses its last commits, nodes write the intervals that they served back
 *   to it (`TailRepair`). A node that does not have them, because it has just started, leaves them
 *   the time (`SharedSealer`).
 */

/** What a node should do about an interval that it reported or claimed. */
export type SealDecision =
  /** Report it again after `waitMs`: it has not ended by the coordinator's clock. */
  | 'early'
  /** Wait: another node seals it, or some node has not reported it. */
  | 'wait'
  /** Seal it. */
  | 'seal'
  /** Nothing: it is sealed and published. */
  | 'sealed';

/** One node's report that an interval has ended. */
export interface SealReport {
  readonly interval: number;
  /** The newest interval that this node may have served. */
  readonly served: number;
  /** Whether this node can seal it. */
  readonly canSeal: boolean;
  /** Viewers' posts, or null to send none. */
  readonly batch: TransientBatch | null;
  /** Ids of streams whose feed is read on this node. */
  readonly activeStreams: readonly string[];
}

export interface SealReportReply {
  readonly decision: SealDecision;
  /** For `early`, when to report again; for `wait` 0. */
  readonly waitMs: number;
  /** Null when the coordinator did not look at the batch: its result is as unknown as before. */
  readonly batchResult: BatchResult | null;
  /** The newest interval that is collected: the batch belongs to a later one. */
  readonly watermark: number;
}

export interface SealClaimReply {
  readonly decision: SealDecision;
  /** How long the node with the claim has left, in ms. */
  readonly waitMs: number;
}

/** What all nodes reported for the intervals to seal. */
export interface CollectedReports {
  readonly batches: readonly Uint8Array[];
  /** The newest interval that a node may have served; -1 when the coordinator knows of none. */
  readonly served: number;
  /** Ids of streams whose feed was read on any node shortly before; only on request. */
  readonly activeStreams: readonly string[];
  /** The timeline of the database on which nodes seal (`Tx.timeline`); empty when the coordinator knows none. */
  readonly timeline: string;
}

export interface PublicationReply {
  readonly isPublished: boolean;
  /** The newest published interval; -1 when the coordinator knows none. */
  readonly published: number;
  /** The timeline of the database on which nodes seal; empty when the coordinator knows none. */
  readonly timeline: string;
}

/** Published intervals: those after `after` up to `interval`. Stored in Redis as JSON. */
export interface SealedEntry {
  readonly after: number;
  readonly interval: number;
  /** All bodies that are not empty; null when they are too large: read them from the database. */
  readonly bodies: readonly SealedBody[] | null;
}

/**
 * Where nodes meet to seal an interval. Asynchronous methods throw Unavailable while the
 * coordinator is unreachable.
 */
export interface SealCoordinator {
  /** Whether this node has reported before: without that the result of a batch would be unknown. */
  hasReported(): boolean;
  /** The name of the coordinator's data set, by the last report; empty before the first one. */
  dataSetName(): string;
  /** Reports that an interval has ended on this node. The last live node to report seals it. */
  report(report: SealReport): Promise<SealReportReply>;
  /** Claims a late interval. One node at a time gets the claim, for 100 ms. */
  claim(interval: number): Promise<SealClaimReply>;
  /** Keeps the claim of this node for another 100 ms. */
  keepClaim(interval: number): Promise<void>;
  /**
   * Returns everything that belongs to the intervals from `after + 1` to `interval`; the same at
   * each call, since batches that arrive later belong to a later interval. Discards what belongs to
   * `after` and before, which must be sealed.
   */
  collect(after: number, interval: number, withActiveStreams: boolean): Promise<CollectedReports>;
  /**
   * Names the timeline of the database on which nodes seal from now on, unless a later one of the same database is
   * named. Publications of other timelines are then refused: nodes may have sealed their intervals again, in a
   * database that had lost them. A node names a timeline before it first seals on it, and collects after that.
   * @returns the named timeline
   */
  fence(timeline: string): Promise<string>;
  /**
   * Publishes sealed intervals to all nodes. Refused, without effect, when one of them is published already, or when
   * nodes seal on another timeline.
   * @param timeline of the database in which they were sealed or read
   */
  publish(entry: SealedEntry, timeline: string): Promise<PublicationReply>;
  /** Entries for intervals after this one. Waits up to `waitMs` for the first. */
  follow(interval: number, waitMs: number): Promise<SealedEntry[]>;
  /** Removes this node: other nodes no longer wait for its reports. */
  leave(): Promise<void>;
}
