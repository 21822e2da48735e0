import type { moderationApi } from '../../../protocol/moderation-api.ts';
import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import type { Handlers } from '../../http/route.ts';
import { ModerationCache, type ModerationCacheOptions } from './moderation-cache.ts';
import { type ModerationRoutes, moderationHandlers } from './moderation-routes.ts';

export interface ModerationDeps extends Omit<ModerationCacheOptions, 'store'> {
  readonly store: ModerationCacheOptions['store'] & ModerationRoutes['store'];
}

export interface Moderation {
  /** Bans, mutes and chat modes as of the last refresh. */
  readonly cache: ModerationCache;
  /** The handlers of the studio API. A function, because authentication needs the bans of the cache first. */
  handlers(studio: StudioHandlerFactory): Handlers<typeof moderationApi>;
  /** Starts the periodic refresh of the cache. */
  start(): void;
  stop(): void;
}

/** Chat moderation (SPEC C). Resolves when the cache is filled, or when the database is unavailable. */
export async function createModeration(deps: ModerationDeps): Promise<Moderation> {
  const cache = new ModerationCache(deps);
  await cache.refresh();
  return {
    cache,
    handlers: (studio) => moderationHandlers(studio, { store: deps.store, moderation: cache }),
    start: () => cache.start(),
    stop: () => cache.stop(),
  };
}
