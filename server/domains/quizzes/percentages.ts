/**
 * What share of all each count is, in whole percent that add up to 100: each is rounded down, and
 * the points then missing go to the largest remainders, a tie to the earlier count (SPEC Q-21).
 * So each is less than 1 off, and a larger count never has the smaller share. All are 0 when
 * nothing was counted.
 *
 * Counts are whole numbers from 0. The sums are made of BigInts: a hundred times a count, or the sum
 * of several, can be beyond 2^53, and remainders that differ by one must still compare.
 */
export function percentages(counts: readonly number[]): number[] {
  const exact = counts.map(BigInt);
  const total = exact.reduce((sum, count) => sum + count, 0n);
  if (total === 0n) return counts.map(() => 0);
  const shares = exact.map((count) => Number((count * 100n) / total));
  const remainders = exact.map((count) => (count * 100n) % total);
  const missing = 100 - shares.reduce((sum, share) => sum + share, 0);
  // Sorting is stable, so of equal remainders the earlier stays ahead.
  const largestFirst = [...remainders.entries()].sort(
    ([, a], [, b]) => Number(b > a) - Number(b < a),
  );
  for (const [index] of largestFirst.slice(0, missing)) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}
