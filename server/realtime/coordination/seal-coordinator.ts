import type { SealedBody } from '../feed/sealing-sql.ts';

/** What a node should do about an interval that it reported or asked to seal. */
export type Verdict =
  /** Report it again after `waitMs`: it has not ended by the common clock. */
  | 'early'
  /** Wait: another node seals it, or not all have reported. */
  | 'wait'
  /** Seal it. */
  | 'seal'
  /** It is sealed, and in the log. */
  | 'sealed';

/** Chat posts of a node on their way to a sealer. */
export interface HandOver {
  /** Counts up in each node. */
  readonly number: number;
  /** It was sent before, and nobody knows whether it arrived. */
  readonly isRepeat: boolean;
  readonly bytes: Uint8Array;
}

/** That an interval has ended for a node, and what it has of it. */
export interface Report {
  readonly interval: number;
  /** The highest interval that this node may have served. */
  readonly served: number;
  /** Whether this node can seal it. */
  readonly able: boolean;
  readonly handOver: HandOver | null;
  /** Streams whose feed is read here. */
  readonly watched: readonly string[];
}

/**
 * What became of what was handed over: `taken`, now or before; `kept`, there was no room for it;
 * `lost`, Redis forgot whether it had it, so that it might be sealed already.
 */
export type HandOverFate = 'taken' | 'kept' | 'lost';

export interface ReportReply {
  readonly verdict: Verdict;
  readonly waitMs: number;
  /** Null when nobody looked at what was handed over, now or before: its fate is as it was. */
  readonly handOver: HandOverFate | null;
  /** Up to here all is collected: what was handed over now goes into a later interval. */
  readonly watermark: number;
}

/** What all nodes handed over for the intervals that are to be sealed. */
export interface Collected {
  readonly parts: readonly Uint8Array[];
  /** Streams whose feed was read anywhere in the last two seconds; only when asked for. */
  readonly watched: readonly string[];
}

/** Sealed intervals on their way to all nodes: those after `after` up to `interval`. */
export interface SealedEntry {
  readonly after: number;
  readonly interval: number;
  /** All bodies that were stored for them; null when they are many: the database has them. */
  readonly bodies: readonly SealedBody[] | null;
}

/** Where nodes meet to seal an interval. Methods that wait throw Unavailable while that is unavailable. */
export interface SealCoordinator {
  /** Whether posts can be handed over: their fate would be known. */
  isKnown(): boolean;
  /** Says that an interval has ended here. Of the live nodes, the last to say so is told to seal. */
  report(report: Report): Promise<ReportReply>;
  /** Asks to seal an interval that was not sealed in time. One node at a time is told to. */
  claim(interval: number): Promise<{ verdict: Verdict; waitMs: number }>;
  /**
   * Everything that belongs to the intervals from `after + 1` to `interval`; the same each time,
   * since what is handed over later belongs to a later one. What belongs to `after` and before is
   * forgotten: it must be sealed.
   */
  collect(after: number, interval: number, withWatched: boolean): Promise<Collected>;
  /** Tells all nodes what was sealed. Entries that are not news are left out. */
  publish(entry: SealedEntry): Promise<void>;
  /** Entries for intervals after this one, as soon as there are any, within `waitMs`. */
  follow(interval: number, waitMs: number): Promise<SealedEntry[]>;
  /** This node is waited for no more. */
  leave(): Promise<void>;
}
