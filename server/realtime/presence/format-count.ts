// One formatter for all: to make one takes as long as hundreds of uses.
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A count for display, in English compact notation with one decimal at most: 999, 1.2K, 3.4M (SPEC V-7). */
export function formatCount(value: number): string {
  return compact.format(value);
}
