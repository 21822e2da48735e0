import type { Tx } from '../../storage/sql/procedure.ts';
import type { ResultEvent } from './interval-body.ts';
import type { OutboxRow } from './outbox-sql.ts';

/**
 * Where due rows of a domain are: one part of the single query by which a sealing finds all work.
 * The condition may use these parameters: `$2` the end of the interval in Unix ms, `$3` the
 * interval, `$4` 1 when the sealing publishes view counts, else 0. It must use an index that holds
 * due rows only, so that idle streams cost nothing, and has a limit: the others stay due.
 */
export interface DueQuery {
  /** SQL expression of the stream's id. */
  readonly streamId: string;
  /** SQL expression of a number that identifies the row to its domain. */
  readonly number: string;
  /**
   * What follows `from`: tables, and the condition that makes a row due. Work whose results must not overtake
   * the waiting events of their stream (F-15) adds `HAS_NO_BACKLOG`.
   */
  readonly from: string;
}

/** SQL condition: all waiting events of the stream `stream_id` fit into the interval. */
export const HAS_NO_BACKLOG = 'stream_id not in (select stream_id from backlog)';

/** A row that a `DueQuery` returned. */
export interface DueRow {
  readonly streamId: string;
  readonly number: number;
}

/** The interval that a transaction seals, as due work sees it. */
export interface SealTime {
  readonly interval: number;
  /** The end of the interval, Unix ms. */
  readonly endMs: number;
  /** Service time, Unix ms. */
  readonly nowMs: number;
  /** How many intervals it skips: no node could seal them. Requests of viewers may have failed then, too. */
  readonly skipped: number;
}

/** A sealing that skips fewer intervals is nothing unusual: one is late now and then. */
export const SKIPPED_MIN = 2;

/** What a domain's due work produced. */
export interface DueResult<DomainEvent> {
  /** Feed events, published in this interval. */
  readonly results: readonly ResultEvent[];
  /** Events of the domains, given to each `afterSeal`. */
  readonly domainEvents: readonly DomainEvent[];
}

/** What a sealing did, for work that follows it in the same transaction. */
export interface SealSummary<DomainEvent> extends SealTime {
  /** Due rows of this work's own queries. */
  readonly due: readonly DueRow[];
  /** Outbox events that are in the interval. */
  readonly published: readonly OutboxRow[];
  readonly domainEvents: readonly DomainEvent[];
  /** View counts by stream id; a missing stream has 0. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * What a domain does inside the sealing transaction. Domains register their work with
 * `createSealingProcedures`; each step runs in the order of registration. Work must not wait for
 * locks: it skips locked rows, which stay due.
 */
export interface DueWork<DomainEvent> {
  /** Name of the work, unique among all that are registered. */
  readonly kind: string;
  readonly queries: readonly DueQuery[];
  /** Runs before the due rows are read, in a sealing that skips `SKIPPED_MIN` intervals or more. */
  readonly onSkip?: (tx: Tx, time: SealTime) => Promise<void>;
  /** Carries out the due rows, if there are any, before the bodies of the interval are composed. */
  readonly run?: (
    tx: Tx,
    due: readonly DueRow[],
    time: SealTime,
  ) => Promise<DueResult<DomainEvent>>;
  /**
   * Runs after the bodies are stored.
   * @returns an error that does not stop the sealing and is to be logged, or null
   */
  readonly afterSeal?: (tx: Tx, report: SealSummary<DomainEvent>) => Promise<string | null>;
}
