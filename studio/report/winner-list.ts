import type { ReadyReport } from '../../protocol/report.ts';

/** Winners to list for a round; the export has all. */
const LIST_MAX = 1_000;

export type Round = ReadyReport['rounds'][number];

/** A row of the winners export. */
export interface Winner {
  readonly roundId: string;
  readonly viewer: string;
  readonly seat: number;
  /** null: the viewer gave no name in the chat. */
  readonly name: string | null;
  readonly code: string;
  /** Unix ms */
  readonly at: number;
}

export interface WinnerList {
  /** By report time. */
  readonly winners: readonly Winner[];
  /** Winners of the round that are not in the list. */
  readonly unlistedCount: number;
  /** Whether the listed winners are the first to report. */
  readonly hasEarliest: boolean;
}

/**
 * The winners of a round to list.
 * @param rows the first rows of the export, which is by round and seat: if it has more, later rounds
 * lack winners, the earliest perhaps
 */
export function winnerListOf(rows: readonly Winner[], round: Round): WinnerList {
  const read = rows.filter(({ roundId }) => roundId === round.id);
  const winners = read.toSorted((a, b) => a.at - b.at).slice(0, LIST_MAX);
  return {
    winners,
    unlistedCount: round.count - winners.length,
    hasEarliest: read.length >= round.count,
  };
}
