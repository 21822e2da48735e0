import { type Random, type ViewerProfile, viewerProfileOf } from '../../../crowd/viewer-profile.ts';
import type { NewRehearsal } from '../../../protocol/rehearsal.ts';

/** What the viewer with this number of a rehearsal is like. */
export function rehearsedHabits(
  { viewers, latencyMs, botShare, lateShare }: NewRehearsal,
  viewer: number,
  random: Random,
): ViewerProfile {
  return {
    ...viewerProfileOf(viewer, random),
    // Some see it sooner, some later.
    lagMs: latencyMs * (0.5 + random()),
    // The last ones, so that as many are bots as are asked for and the first, who never leaves, is none
    // unless all are.
    isBot: viewer >= Math.round(viewers * (1 - botShare)),
    lateShare,
    // Among many nodes who left may be in a count that is read for longer (N-5); published ones are exact.
    readsCount: false,
  };
}
