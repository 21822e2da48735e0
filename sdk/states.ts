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

const AS_IT_HAPPENS = {
  live: 'live',
  'catching-up': 'catching-up',
  offline: 'offline',
  ended: 'ended',
} as const;

/** What comes of every happening in every state. */
export const STATES: Record<ViewerState, Record<Happening, ViewerState>> = {
  joining: AS_IT_HAPPENS,
  live: AS_IT_HAPPENS,
  'catching-up': AS_IT_HAPPENS,
  offline: AS_IT_HAPPENS,
  ended: { live: 'ended', 'catching-up': 'ended', offline: 'ended', ended: 'ended' },
};
