import { studioApi } from '../../../protocol/studio-api.ts';
import type { Handlers } from '../../http/route.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { memberUuid } from '../credentials.ts';
import { hashSecret, newSecret, type RandomBytes } from '../secrets.ts';
import {
  type StudioCall,
  type StudioHandlerFactory,
  secretAlreadyShown,
} from '../studio-handler.ts';
import { linkUrl } from './links.ts';
import type { linkProcedures } from './links-sql.ts';
import type { memberProcedures } from './members-sql.ts';
import type { Sessions } from './sessions.ts';

export interface MemberDeps {
  readonly store: Calls<typeof memberProcedures & typeof linkProcedures>;
  readonly sessions: Sessions;
  readonly newId: () => string;
  readonly randomBytes: RandomBytes;
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

/** Members of an account and invitations to it (SPEC U). */
export function memberHandlers(
  studio: StudioHandlerFactory,
  { store, sessions, newId, randomBytes }: MemberDeps,
): Handlers<Operations> {
  return {
    listMembers: studio(studioApi.listMembers, async ({ producer }) => ({
      results: await store.listMembers({ account: producer }),
    })),

    patchMember: studio(studioApi.patchMember, async (call, { role }) => {
      const changed = await store.changeRole({ ...memberOf(call), role }, call.idempotency);
      sessions.clearCache();
      return changed;
    }),

    removeMember: studio(studioApi.removeMember, async (call) => {
      await store.removeMember({ ...memberOf(call), lastOwner: false }, call.idempotency);
      sessions.clearCache();
      return null;
    }),

    invite: studio(studioApi.invite, async (call, invitee) => {
      const id = newId();
      const secret = newSecret(randomBytes);
      const link = { id, hash: hashSecret(secret), nowMs: call.nowMs };
      const inviter = { account: call.producer, by: memberUuid(call.actor) };
      const created = await store.invite({ ...inviter, ...invitee, link }, call.idempotency);
      if (created.id !== id) throw secretAlreadyShown('a link');
      return { ...created, link: linkUrl(call.origin, 'invitation', secret) };
    }),

    listInvitations: studio(studioApi.listInvitations, async ({ producer, nowMs }) => ({
      results: await store.listInvitations({ account: producer, nowMs }),
    })),

    withdrawInvitation: studio(
      studioApi.withdrawInvitation,
      async ({ producer, params, idempotency }) => {
        const invitation = { account: producer, id: params.invitation_id ?? '' };
        await store.withdrawInvitation(invitation, idempotency);
        return null;
      },
    ),
  };
}

const memberOf = ({ producer, params, actor }: StudioCall) => ({
  account: producer,
  uuid: params.member_id ?? '',
  by: memberUuid(actor),
});
