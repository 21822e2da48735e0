const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Short, for people, as the service writes counts: `999`, `1.2K`, `3.4M`. */
export const compact = (value: number): string => COMPACT.format(value);
