import type { ViewerState } from './viewer.ts';

/**
 * What can happen to a viewer.
 *
 * - `caught-up`: the feed is where the service is.
 * - `fell-behind`: there is more of the feed than was read.
 * - `lost`: the feed cannot be read.
 * - `over`: the show has ended, and what was left of its feed is here; or the viewer has left.
 */
export type Happening = 'caught-up' | 'fell-behind' | 'lost' | 'over';

/** What comes of every happening in every state. */
export const STATES: Record<ViewerState, Record<Happening, ViewerState>> = {
  // Who joins has missed nothing: the first interval is all there is to wait for.
  joining: { 'caught-up': 'live', 'fell-behind': 'joining', lost: 'offline', over: 'ended' },
  live: { 'caught-up': 'live', 'fell-behind': 'catching-up', lost: 'offline', over: 'ended' },
  'catching-up': {
    'caught-up': 'live',
    'fell-behind': 'catching-up',
    lost: 'offline',
    over: 'ended',
  },
  offline: { 'caught-up': 'live', 'fell-behind': 'catching-up', lost: 'offline', over: 'ended' },
  ended: { 'caught-up': 'ended', 'fell-behind': 'ended', lost: 'ended', over: 'ended' },
};
