import type { Sliced } from '../../platform/slices.ts';

/**
 * Renders a playlist or manifest; the result is its text in pieces, or null when there is none. In one go the
 * first playlist of a recording of 24 h stopped the thread for 0.8 s, and one of seven days for 4.4 s.
 */
export type Rendering = Sliced<readonly string[] | null>;

/** Segments between two pauses of a rendering: up to 0.9 ms. */
export const SEGMENTS_PER_STEP = 100;
