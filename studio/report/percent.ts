/**
 * A share as a percentage with a non-breaking space; a small share is never "0 %".
 * @param share 0 to 1
 */
export function percentLabel(share: number): string {
  if (share > 0 && share < 0.01) return 'less than 1\u00a0%';
  return `${Math.round(share * 100)}\u00a0%`;
}
