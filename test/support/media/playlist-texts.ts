import { dashManifest } from '../../../server/media/playlist/dash-manifest.ts';
import { hlsMediaPlaylist } from '../../../server/media/playlist/hls-media.ts';
import { hlsMultivariantPlaylist } from '../../../server/media/playlist/hls-multivariant.ts';
import type { Rendering } from '../../../server/media/playlist/rendering.ts';
import type { Sliced } from '../../../server/platform/slices.ts';

/** The result of a computation, without pauses. */
export function resultOf<Result>(work: Sliced<Result>): Result {
  for (;;) {
    const state = work.next();
    if (state.done) return state.value;
  }
}

export const mediaPlaylistText = (...of: Parameters<typeof hlsMediaPlaylist>) =>
  textOf(hlsMediaPlaylist(...of));
export const masterPlaylistText = (...of: Parameters<typeof hlsMultivariantPlaylist>) =>
  textOf(hlsMultivariantPlaylist(...of));
export const manifestText = (...of: Parameters<typeof dashManifest>) => textOf(dashManifest(...of));

function textOf(rendering: Rendering): string | null {
  return resultOf(rendering)?.join('') ?? null;
}
