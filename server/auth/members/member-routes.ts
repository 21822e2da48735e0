import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import type { Handlers } from '../../http/route.ts';
import { secretAlreadyShown } from '../../http/shown-once.ts';
import type { StudioHandlerFactory } from '../studio-operation.ts';
import { linkUrl } from './link-url.ts';
import { hashSecret, newSecret } from './one-time-secret.ts';
import type { Sessions } from './sessions.ts';

export interface MemberDeps {
  readonly store: Pick<
    Store,
    | 'listMembers'
    | 'changeRole'
    | 'removeMember'
    | 'invite'
    | 'listInvitations'
    | 'withdrawInvitation'
  >;
  readonly sessions: Sessions;
  readonly newId: () => string;
  /** Secure random bytes, for secrets. */
  readonly randomBytes: (n: number) => Uint8Array;
}

type Operations = Pick<
  typeof studioApi,
  | 'listMembers'
  | 'patchMember'
  | 'removeMember'
  | 'invite'
  | 'listInvitations'
  | 'withdrawInvitation'
>;

/** Who is in the account, and who is to be (SPEC U). */
export function memberHandlers(
  studio: StudioHandlerFactory,
  { store, sessions, newId, randomBytes }: MemberDeps,
): Handlers<Operations> {
  return {
    listMembers: studio(studioApi.listMembers, async ({ producer }) => ({
      results: await store.listMembers({ account: producer }),
    })),

    patchMember: studio(studioApi.patchMember, async ({ producer, params, idempotency }, { role }) => {
      const member = { account: producer, uuid: params.member_id ?? '' };
      const changed = await store.changeRole({ ...member, role }, idempotency);
      sessions.clearCache();
      return changed;
    }),

    removeMember: studio(studioApi.removeMember, async ({ producer, params, idempotency }) => {
      await store.removeMember({ account: producer, uuid: params.member_id ?? '' }, idempotency);
      sessions.clearCache();
      return null;
    }),

    invite: studio(studioApi.invite, async ({ producer, origin, nowMs, idempotency }, invited) => {
      const id = newId();
      const secret = newSecret(randomBytes);
      const link = { id, hash: hashSecret(secret), nowMs };
      const made = await store.invite({ account: producer, ...invited, link }, idempotency);
      if (made.id !== id) throw secretAlreadyShown('a link');
      return { ...made, link: linkUrl(origin, 'invitation', secret) };
    }),

    listInvitations: studio(studioApi.listInvitations, async ({ producer, nowMs }) => ({
      results: await store.listInvitations({ account: producer, nowMs }),
    })),

    withdrawInvitation: studio(studioApi.withdrawInvitation, async ({ producer, params, idempotency }) => {
      const invitation = { account: producer, id: params.invitation_id ?? '' };
      await store.withdrawInvitation(invitation, idempotency);
      return null;
    }),
  };
}
