import type { Clock } from '../../platform/clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { newSecret, type RandomBytes } from '../secrets.ts';
import { type StudioContext, studioHandlerFactory } from '../studio-handler.ts';
import type { tokenProcedures } from '../viewer-tokens/tokens-sql.ts';
import { KnownDevices } from './known-devices.ts';
import { linkHandlers } from './link-routes.ts';
import { newSetupLink } from './links.ts';
import type { linkProcedures } from './links-sql.ts';
import { memberHandlers } from './member-routes.ts';
import type { memberProcedures } from './members-sql.ts';
import { Passwords } from './passwords.ts';
import type { SessionContext } from './session-handler.ts';
import { sessionHandlers } from './session-routes.ts';
import { Sessions } from './sessions.ts';
import type { sessionProcedures } from './sessions-sql.ts';

export interface MembersDeps {
  readonly store: Calls<
    typeof sessionProcedures & typeof memberProcedures & typeof linkProcedures
  > &
    Pick<Calls<typeof tokenProcedures>, 'keepSecret'>;
  readonly clock: Clock;
  /** The origin at which browsers reach the service, without a trailing slash. */
  readonly originOf: (request: Request) => string;
  readonly signInRate: SessionContext['signInRate'];
  readonly passwordLimit: SessionContext['passwordLimit'];
  readonly newId: () => string;
  readonly randomBytes: RandomBytes;
}

/**
 * Members of accounts, their sessions and one-time links (SPEC U). `handlers` is a function
 * of a context whose credentials need `sessions` first.
 */
export async function createMembers(deps: MembersDeps) {
  const { store, clock, originOf, randomBytes } = deps;
  const sessions = new Sessions({ store, clock, originOf });
  const passwords = new Passwords();
  const secret = await store.keepSecret({ name: 'devices', offered: newSecret(randomBytes) });
  const devices = new KnownDevices(secret, randomBytes);
  return {
    sessions,
    handlers: (studio: StudioContext) => {
      const context = { ...studio, ...deps, sessions, passwords, devices };
      return {
        ...sessionHandlers(context),
        ...linkHandlers(context),
        ...memberHandlers(studioHandlerFactory(studio), context),
      };
    },
    /** The setup link to print at a start; null when there already is a member. */
    newSetupLink: (origin: string) => newSetupLink(store, origin, clock.nowMs()),
    /** Periodic work, every 10 s: deletes expired sessions and links. */
    upkeep: () => store.deleteExpiredSessionsAndLinks({ nowMs: clock.nowMs() }),
  };
}
