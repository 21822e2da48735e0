import { texts } from './texts.ts';

/**
 * A share as a percentage with a non-breaking space; a small share is never "0 %".
 * @param share 0 to 1
 */
export function percentLabel(share: number): string {
  if (share > 0 && share < 0.01) return texts.units.lessThanOnePercent;
  return texts.units.percent(Math.round(share * 100));
}
