import { studioApi } from '../../../protocol/studio-api.ts';
import type { Handlers } from '../../http/route.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { hashSecret, newSecret, type RandomBytes } from '../secrets.ts';
import { type StudioHandlerFactory, secretAlreadyShown } from '../studio-handler.ts';
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

    patchMember: studio(
      studioApi.patchMember,
      async ({ producer, params, idempotency }, { role }) => {
        const member = { account: producer, uuid: params.member_id ?? '' };
        const changed = await store.changeRole({ ...member, role }, idempotency);
        sessions.clearCache();
        return changed;
      },
    ),

    removeMember: studio(studioApi.removeMember, async ({ producer, params, idempotency }) => {
      await store.removeMember({ account: producer, uuid: params.member_id ?? '' }, idempotency);
      sessions.clearCache();
      return null;
    }),

    invite: studio(studioApi.invite, async ({ producer, origin, nowMs, idempotency }, invitee) => {
      const id = newId();
      const secret = newSecret(randomBytes);
      const link = { id, hash: hashSecret(secret), nowMs };
      const created = await store.invite({ account: producer, ...invitee, link }, idempotency);
      if (created.id !== id) throw secretAlreadyShown('a link');
      return { ...created, link: linkUrl(origin, 'invitation', secret) };
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
