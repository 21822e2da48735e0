import type { ViewerState } from './viewer.ts';

/**
 * What can happen to a viewer.
 *
 * - `live`: the feed is read, and is where the service is.
 * - `catching-up`: there is more of the feed than was read.
 * - `offline`: the feed cannot be read.
 * - `ended`: the show is over, and what was left of its feed is here; or the viewer has left.
 */
export type Happening = 'live' | 'catching-up' | 'offline' | 'ended';

const asItHappens = (happening: Happening): ViewerState => happening;

/** What comes of every happening in every state. */
export const STATES: Record<ViewerState, (happening: Happening) => ViewerState> = {
  joining: asItHappens,
  live: asItHappens,
  'catching-up': asItHappens,
  offline: asItHappens,
  ended: () => 'ended',
};
