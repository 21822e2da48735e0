import type { FeedEvent } from '../protocol/feed.ts';
import type { Percentiles } from './lateness.ts';
import type { CountBounds } from './ledger/count-ledger.ts';
import type { Verdicts } from './ledger/verdict.ts';

/** What the demo tells the crowd's process. */
export type ToCrowd =
  | {
      readonly kind: 'begin';
      readonly port: number;
      readonly streamId: string;
      readonly viewers: number;
    }
  /** The service acknowledged something to the host: in so many ms this event must be in the feed. */
  | { readonly kind: 'promised'; readonly key: string; readonly inMs: number }
  /** The show is over: make the last checks, report, and end. */
  | { readonly kind: 'finish' };

/** What the crowd tells, once each interval: what happened since, and how things stand. */
export interface CrowdReport {
  readonly kind: 'report';
  readonly isLast: boolean;
  /** The newest interval that was read, or null. */
  readonly interval: number | null;
  /** Viewers who are here, and who have come at least once. */
  readonly present: number;
  readonly arrived: number;
  /** The last count of the service that was compared, with what our ledger says. */
  readonly count: (CountBounds & { readonly value: number; readonly formatted: string }) | null;
  /** Viewers who are not of the crowd: here at the last count, and at all, at most. */
  readonly others: { readonly here: number; readonly came: number };
  /** How far apart the least and the greatest count are that our ledger allows, on average. */
  readonly slack: number;
  /** Answers of the service so far, and how often there was none, or none of any use. */
  readonly requests: number;
  readonly troubles: number;
  readonly recent: Percentiles;
  readonly overall: Percentiles;
  /** Acknowledged answers so far of each quiz that has no results, in the order of its choices. */
  readonly answers: Readonly<Record<string, readonly number[]>>;
  /** Events of the feed since the last report, but counts and chats. */
  readonly events: readonly FeedEvent[];
  /** Counts of the service since the last report. */
  readonly counts: readonly number[];
  readonly chat: ChatSummary;
  readonly verdicts: Verdicts;
}

/** All chats of the feed so far. */
export interface ChatSummary {
  readonly lines: number;
  readonly hearts: number;
  readonly purchases: number;
  readonly discounts: number;
  readonly last: { readonly name: string; readonly text: string } | null;
}
