import type { Snapshot, Viewer } from '../../sdk/viewer.ts';

/** Hearts that rise over the picture. */
export function FlyingHearts(_: { viewer: Viewer; snapshot: Snapshot }) {
  return null;
}
