/** A share as people write it: what is not none is never "0 %", and the sign stays with its number. @param share 0 to 1 */
export function percentOf(share: number): string {
  if (share > 0 && share < 0.01) return 'less than 1\u00a0%';
  return `${Math.round(share * 100)}\u00a0%`;
}
