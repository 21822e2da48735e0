/**
 * Whole percentages of the counts that add up to 100, by the largest remainder method: each share is
 * rounded down, then the missing points go to the largest remainders, ties to the earlier count
 * (SPEC Q-21). Each share is less than 1 off, and a larger count never has the smaller share. All are
 * 0 when all counts are.
 *
 * Counts are whole numbers from 0. The arithmetic uses BigInt because a hundred times a count, or a sum
 * of counts, can exceed 2^53, and remainders that differ by one must still compare.
 */
export function percentages(counts: readonly number[]): number[] {
  const exact = counts.map(BigInt);
  const total = exact.reduce((sum, count) => sum + count, 0n);
  if (total === 0n) return counts.map(() => 0);
  const shares = exact.map((count) => Number((count * 100n) / total));
  const remainders = exact.map((count) => (count * 100n) % total);
  const missing = 100 - shares.reduce((sum, share) => sum + share, 0);
  // The sort is stable: of equal remainders the earlier stays first.
  const largestFirst = [...remainders.entries()].sort(
    ([, a], [, b]) => Number(b > a) - Number(b < a),
  );
  for (const [index] of largestFirst.slice(0, missing)) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}
