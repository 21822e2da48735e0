import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Handlers } from '../../http/route.ts';
import type { Credentials } from '../credentials.ts';

/** `users/me` (SPEC A). */
export function accountHandlers(
  credentials: Credentials,
): Handlers<Pick<typeof viewerApi, 'readMe'>> {
  return {
    readMe: async (request, route) => {
      const { user } = await credentials.service(request, route);
      return route.ok(user);
    },
  };
}
