import type { Clock } from '../../platform/clock.ts';
import type { Credentials } from '../credentials.ts';
import type { StudioHandlerFactory } from '../studio-handler.ts';
import { type ApiTokenDeps, accountHandlers, apiTokenHandlers } from './account-routes.ts';
import { ServiceTokens } from './service-tokens.ts';

/**
 * Accounts and their service tokens. `handlers` is a function of the credentials, because those need
 * `serviceTokens` first.
 */
export function createAccounts(deps: ApiTokenDeps & { readonly clock: Clock }) {
  const serviceTokens = new ServiceTokens(deps.store, deps.clock);
  return {
    serviceTokens,
    handlers: (credentials: Credentials, studio: StudioHandlerFactory) => ({
      viewer: accountHandlers(credentials),
      studio: apiTokenHandlers(studio, deps),
    }),
    /** Periodic work, every 10 s. */
    upkeep: () => serviceTokens.recordUses(),
    /** Writes what `upkeep` has not written yet. */
    stop: () => serviceTokens.recordUses(),
  };
}
