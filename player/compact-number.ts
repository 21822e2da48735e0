const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Formats a count as the service does: `999`, `1.2K`, `3.4M`. */
export const compact = (value: number): string => COMPACT.format(value);
