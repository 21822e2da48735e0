import type { RoundWinner } from '../../protocol/winners.ts';

/** How long a page of winners stays, ms. */
export const WINNERS_PAGE_MS = 5_000;
/** Names that an audience can read in that time, three columns of six. */
const PAGE_WINNERS = 18;

/** A part of the winners. */
export interface WinnersPage {
  /** From 0. */
  readonly number: number;
  readonly winners: readonly RoundWinner[];
}

/**
 * The page to show; after the last one follows the first. All pages have about the same length.
 * @param turn number of page changes so far
 */
export function pageOf(winners: readonly RoundWinner[], turn: number): WinnersPage {
  const pages = Math.max(1, Math.ceil(winners.length / PAGE_WINNERS));
  const number = turn % pages;
  const from = Math.ceil((winners.length * number) / pages);
  const to = Math.ceil((winners.length * (number + 1)) / pages);
  return { number, winners: winners.slice(from, to) };
}

/** Names that more than one of the winners has. */
export function repeatedNames(winners: readonly RoundWinner[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of winners) {
    if (name === null) continue;
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
  }
  return repeated;
}
