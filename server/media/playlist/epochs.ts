import { firstIndex } from '../../platform/first-index.ts';
import type { Epoch, Segment, TrackId } from '../segment.ts';

// A source that reconnects every 3 s makes 2,400 epochs in the DVR window of a recording, and 12,000 in a show
// of 10 hours. Playlists are rendered three times a second, so nothing here reads all epochs each time.

/** The epoch with this number. */
export function epochWith(epochs: readonly Epoch[], number: number): Epoch | undefined {
  const epoch = epochs[firstIndex(epochs, (each) => each.number >= number)];
  return epoch?.number === number ? epoch : undefined;
}

/** The epochs from that of the first segment on. @returns the same array when these are all epochs */
export function epochsOf(epochs: readonly Epoch[], segments: readonly Segment[]): readonly Epoch[] {
  const [segment] = segments;
  const first = segment ? firstIndex(epochs, ({ number }) => number >= segment.epoch) : 0;
  return first === 0 ? epochs : epochs.slice(first);
}

/** The ids of all tracks, and what they were read from; for arrays that change in place. */
interface TrackIds {
  readonly length: number;
  readonly newest: Epoch | undefined;
  readonly ids: ReadonlySet<TrackId>;
}

const TRACK_IDS = new WeakMap<readonly Epoch[], TrackIds>();

/** Whether an epoch has this track. */
export function hasTrack(epochs: readonly Epoch[], id: TrackId): boolean {
  const newest = epochs.at(-1);
  if (newest?.tracks.some((track) => track.id === id)) return true;
  const known = TRACK_IDS.get(epochs);
  if (known?.newest === newest && known?.length === epochs.length) return known.ids.has(id);
  const ids = new Set(epochs.flatMap(({ tracks }) => tracks.map((track) => track.id)));
  TRACK_IDS.set(epochs, { length: epochs.length, newest, ids });
  return ids.has(id);
}
