import { intervalAt } from '../../protocol/interval.ts';
import { timeQuerySchema } from '../../protocol/time.ts';
import type { viewerApi } from '../../protocol/viewer-api.ts';
import type { Clock } from '../platform/clock.ts';
import { prefers } from './accept.ts';
import { readQuery } from './parameters.ts';
import type { Handlers } from './route.ts';

/** Serves the service time (SPEC K): JSON for apps, ISO 8601 for DASH players. */
export function timeHandlers(clock: Clock): Handlers<Pick<typeof viewerApi, 'readTime'>> {
  return {
    readTime: (request, route) => {
      const { format } = readQuery(request, timeQuerySchema);
      const now = clock.nowMs();
      if (
        format === 'iso' ||
        (format === undefined && prefers(request.headers.get('accept'), 'text/plain'))
      ) {
        return new Response(new Date(now).toISOString(), {
          headers: { ...route.headers, 'Content-Type': 'text/plain; charset=utf-8' },
        });
      }
      return route.ok({ now, interval: intervalAt(now) });
    },
  };
}
