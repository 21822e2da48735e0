/**
 * SQL condition on `streams` that excludes the hidden streams of rehearsals. Listings, webhooks and
 * reports must not show them (SPEC Y-2).
 */
export const NO_REHEARSAL = 'rehearsal_of is null';
