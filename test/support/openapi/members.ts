import { randomUUID } from 'node:crypto';
import { newSetupLink } from '../../../server/auth/members/operator-links.ts';
import { startService } from '../harness/harness.ts';
import { type Browser, invited, newMember, PASSWORD, tokenOf } from '../studio/member-browser.ts';
import type { Answered, Exercises, Ground } from './ground.ts';

/** The operations about members and their sessions. */
export function memberExercises(ground: Ground): Exercises {
  const { service } = ground;
  return {
    signIn: async () => {
      const { email } = await newMember(service, 'host');
      return [
        [await ground.ask('signIn', { body: { email, password: PASSWORD } }), 201],
        [await ground.ask('signIn', { body: { email, password: 'something else' } }), 401],
      ];
    },
    readSession: async () => [
      [await ground.ask('readSession', await asMember(ground)), 200],
      [await ground.ask('readSession'), 401],
    ],
    signOut: () => onceOnly(ground, 'signOut'),
    signOutEverywhere: () => onceOnly(ground, 'signOutEverywhere'),
    patchOwnMember: async () => {
      const member = await asMember(ground);
      const password = 'another password';
      const wrong = { password, currentPassword: 'something else' };
      return [
        [await ground.ask('patchOwnMember', { ...member, body: { name: 'Ada' } }), 200],
        [await ground.ask('patchOwnMember', { ...member, body: wrong }), 400],
      ];
    },
    setUp: async () => {
      // It works once in the life of a record, so it is tried in one of its own.
      const fresh = await startService();
      try {
        const link = await newSetupLink(fresh.record, fresh.url, fresh.clock.nowMs());
        const email = `${randomUUID()}@example.org`;
        const body = { token: tokenOf(link ?? ''), name: 'Ada', email, password: PASSWORD };
        return [
          [await ground.contract.ask(fresh.url, 'setUp', { body }), 201],
          [await ground.contract.ask(fresh.url, 'setUp', { body }), 401],
        ];
      } finally {
        await fresh.close();
      }
    },
    lookAtLink: async () => {
      const { token } = await invited(service, 'host');
      return [
        [await ground.ask('lookAtLink', { body: { token } }), 200],
        [await ground.ask('lookAtLink', { body: { token: 'none' } }), 401],
      ];
    },
    acceptLink: async () => {
      const { token } = await invited(service, 'host');
      const body = { token, name: 'Ada', password: PASSWORD };
      return [
        [await ground.ask('acceptLink', { body: { ...body, password: 'short' } }), 400],
        [await ground.ask('acceptLink', { body }), 201],
        [await ground.ask('acceptLink', { body }), 401],
      ];
    },
    invite: async () => {
      const { email } = await newMember(service, 'host');
      const fresh = { email: `${randomUUID()}@example.org`, role: 'moderator' };
      return [
        [await ground.studio('invite', { body: fresh }), 201],
        [await ground.studio('invite', { body: { email, role: 'host' } }), 409],
      ];
    },
    listInvitations: async () => {
      await invited(service, 'host');
      return [[await ground.studio('listInvitations'), 200]];
    },
    withdrawInvitation: async () => {
      const ask = { params: { invitation_id: (await invited(service, 'host')).id } };
      return [
        [await ground.studio('withdrawInvitation', ask), 204],
        [await ground.studio('withdrawInvitation', ask), 404],
      ];
    },
    listMembers: async () => {
      await newMember(service, 'moderator');
      return [[await ground.studio('listMembers'), 200]];
    },
    patchMember: async () => {
      const account = await service.createAccount();
      const { uuid } = await newMember(service, 'owner', account);
      const ask = { params: { member_id: uuid }, authorization: `Token ${account.token}` };
      return [
        [await ground.ask('patchMember', { ...ask, body: { role: 'owner' } }), 200],
        [await ground.ask('patchMember', { ...ask, body: { role: 'host' } }), 409],
      ];
    },
    removeMember: async () => {
      const ask = { params: { member_id: (await newMember(service, 'host')).uuid } };
      return [
        [await ground.studio('removeMember', ask), 204],
        [await ground.studio('removeMember', ask), 404],
      ];
    },
  };
}

const credentialOf = ({ cookie, csrf }: Browser) => ({
  headers: { Cookie: `${cookie}`, 'X-CSRF-Token': `${csrf}` },
});

async function asMember({ service }: Ground) {
  return credentialOf((await newMember(service, 'moderator')).browser);
}

async function onceOnly(ground: Ground, operationId: string): Promise<Answered[]> {
  const member = await asMember(ground);
  return [
    [await ground.ask(operationId, member), 204],
    [await ground.ask(operationId, member), 401],
  ];
}
