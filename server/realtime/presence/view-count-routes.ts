import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { Viewer } from '../../auth/viewer-tokens/checked-viewers.ts';
import type { Handlers, Route } from '../../http/route.ts';
import type { PresenceRegistry } from './presence-registry.ts';
import { viewCountOf } from './view-count-events.ts';

/** Handlers of heartbeats and of the view count (SPEC V). */
export function viewCountHandlers(
  presence: PresenceRegistry,
  credentials: Credentials,
): Handlers<Pick<typeof viewerApi, 'registerView' | 'readViewCount'>> {
  const register = (viewer: Viewer, route: Route): Response => {
    presence.register(viewer.streamId, viewer.seat);
    return route.noContent();
  };

  return {
    // The hottest path of the service: a viewer with a cached token costs no promise.
    registerView: (request, route) => {
      const viewer = credentials.viewer(request, route, request.params.stream_id ?? '');
      if (viewer instanceof Promise) return viewer.then((checked) => register(checked, route));
      return register(viewer, route);
    },

    readViewCount: async (request, route) => {
      const { streamId } = await credentials.viewer(request, route, request.params.stream_id ?? '');
      const value = await presence.count(streamId);
      return route.ok(viewCountOf(value));
    },
  };
}
