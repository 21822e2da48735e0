// What a viewer's parts are put together with.

/** How much that was missed is caught up with. */
export const CATCH_UP_MS = 60_000;
/** Who comes back after a reload goes on where it was; after a longer time away it begins anew. */
export const RELOAD_INTERVALS = 40;
/** Where the feed is, is kept each 5 s. */
export const KEEP_INTERVALS = 20;
/** What was kept of other streams is removed after about a week. */
export const KEPT_INTERVALS = 2_400_000;
/** A player is seconds behind. */
export const SHOWN_INTERVALS = 120;
/** A quiz takes longer, from the moment when a show was seen not to have begun. */
export const BEGINNING_MS = 5_000;
/** What is left of a show may come so late. */
export const REST_INTERVALS = 8;
/** The feed brings 4 intervals a second: when nothing came for so long, others may say why. */
export const SILENT_MS = 2_000;
