import type { Snapshot, Viewer } from '../../sdk/viewer.ts';

/** How many are there, and what they say. It fills the place that it is given. */
export function Crowd({ snapshot }: { viewer: Viewer; snapshot: Snapshot }) {
  return <p>{snapshot.count?.formatted ?? '–'} watching</p>;
}
