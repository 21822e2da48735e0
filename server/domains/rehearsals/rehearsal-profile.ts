import { type Random, type ViewerProfile, viewerProfileOf } from '../../../crowd/viewer-profile.ts';
import type { NewRehearsal } from '../../../protocol/rehearsal.ts';

/** The profile of the viewer with this number in a rehearsal. */
export function rehearsalProfileOf(
  { viewers, latencyMs, botShare, lateShare }: NewRehearsal,
  viewer: number,
  random: Random,
): ViewerProfile {
  return {
    ...viewerProfileOf(viewer, random),
    // From half to one and a half of the configured latency.
    lagMs: latencyMs * (0.5 + random()),
    // The last viewers are the bots: the first one, who never leaves, is one only if all are.
    isBot: viewer >= Math.round(viewers * (1 - botShare)),
    lateShare,
    // With many nodes a count that is read may include viewers who left (N-5); published ones are exact.
    readsCount: false,
  };
}
