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

/** @returns the state after it. What has ended stays so. */
export function stateAfter(state: ViewerState, happening: Happening): ViewerState {
  return state === 'ended' ? state : happening;
}
