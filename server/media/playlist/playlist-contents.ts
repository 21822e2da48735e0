import { firstIndex } from '../../platform/first-index.ts';
import type { Presentation, TrackId } from '../segment.ts';
import { withinDvrWindow } from './dvr-window.ts';

/** Which media playlist of a track: `playlist` is the live one, `recording` lists all segments. */
export interface MediaPlaylistName {
  readonly kind: 'playlist' | 'recording';
  readonly track: TrackId;
  /**
   * When the end of the stream was last taken back, Unix ms; null: never. A stream that was reopened has
   * new playlists: one with `EXT-X-ENDLIST` may not go on (RFC 8216, 6.2.1).
   */
  readonly reopenedMs: number | null;
}

/**
 * What a media playlist lists. The live playlist of a recording keeps its window after the end. The
 * playlists of the time before the stream was first reopened stay as they were at the end.
 * @returns null when there is no such playlist
 */
export function playlistContents(
  presentation: Presentation,
  { kind, reopenedMs }: MediaPlaylistName,
): Presentation | null {
  const current = presentation.reopenedMs;
  if (reopenedMs !== null && reopenedMs !== current) return null;
  const session =
    current !== null && reopenedMs === null ? beforeReopening(presentation, current) : presentation;
  if (kind === 'playlist') return withinDvrWindow(session);
  return session.isEnded ? session : null;
}

/** What follows the track in the name of a live playlist. */
export function livePlaylistSuffix({ reopenedMs }: Presentation): string {
  return reopenedMs === null ? '.m3u8' : `-${reopenedMs}.m3u8`;
}

/** What follows the track in the name of the playlist of the whole recording. */
export function recordingPlaylistSuffix({ reopenedMs }: Presentation): string {
  return reopenedMs === null ? '-recording.m3u8' : `-${reopenedMs}-recording.m3u8`;
}

function beforeReopening(presentation: Presentation, reopenedMs: number): Presentation {
  const { segments } = presentation;
  const end = firstIndex(segments, ({ startMs }) => startMs >= reopenedMs);
  return { ...presentation, segments: segments.slice(0, end), parts: new Map(), isEnded: true };
}
