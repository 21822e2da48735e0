import type { FeedEvent } from '../protocol/feed.ts';
import type { Percentiles } from './delays.ts';
import type { CheckResults } from './ledger/check-results.ts';
import type { CountBounds } from './ledger/count-ledger.ts';

/** Messages from the demo to the process of the crowd. */
export type CrowdCommand =
  | {
      readonly kind: 'start';
      readonly port: number;
      readonly streamId: string;
      readonly viewers: number;
    }
  /** The service acknowledged an event to the host. It appears in the feed in `inMs` or later. */
  | { readonly kind: 'expect-event'; readonly key: string; readonly inMs: number }
  /** The show is over: run the last checks, report, and exit. */
  | { readonly kind: 'finish' };

/** The crowd's report to the demo, once per interval. */
export interface CrowdReport {
  readonly kind: 'report';
  readonly isLast: boolean;
  /** The newest interval that was read; null before the first. */
  readonly interval: number | null;
  /** Viewers who are present now; viewers who have joined at least once. */
  readonly present: number;
  readonly arrived: number;
  /** The last count of the feed that the ledger checked, with the ledger's bounds. */
  readonly count: (CountBounds & { readonly value: number; readonly formatted: string }) | null;
  /** Upper bounds of the viewers from outside of the crowd: present at the last count; in total. */
  readonly externalViewers: { readonly present: number; readonly total: number };
  /** Average width of the range that the ledger allows for a count. */
  readonly countTolerance: number;
  /** Responses so far, and requests without a usable response. */
  readonly requests: number;
  readonly failures: number;
  /** Delays of intervals that were read live: in the last 5 to 10 s; since the start. */
  readonly recent: Percentiles;
  readonly overall: Percentiles;
  /** Acknowledged answers by choice, of each quiz without results. */
  readonly answers: Readonly<Record<string, readonly number[]>>;
  /** Events of the feed since the last report, without `view-count` and `chats`. */
  readonly events: readonly FeedEvent[];
  /** Published counts since the last report. */
  readonly counts: readonly number[];
  readonly chat: ChatSummary;
  readonly checkResults: CheckResults;
}

/** Totals of the chat so far. */
export interface ChatSummary {
  readonly messages: number;
  readonly hearts: number;
  readonly purchases: number;
  readonly discounts: number;
  readonly last: { readonly name: string; readonly text: string } | null;
}
