import { randomUUID } from 'node:crypto';
import { newSetupLink } from '../../../server/auth/members/links.ts';
import { startService } from '../harness/harness.ts';
import {
  inviteMember,
  newMember,
  PASSWORD,
  tokenOf,
  type UserAgent,
} from '../studio/user-agent.ts';
import type { CheckedResponse, Exercises, Fixture } from './fixture.ts';

/** The operations about members and their sessions. */
export function memberExercises(fixture: Fixture): Exercises {
  const { service } = fixture;
  return {
    signIn: async () => {
      const { email } = await newMember(service, 'host');
      return [
        [await fixture.send('signIn', { body: { email, password: PASSWORD } }), 201],
        [await fixture.send('signIn', { body: { email, password: 'something else' } }), 401],
      ];
    },
    readSession: async () => [
      [await fixture.send('readSession', await asMember(fixture)), 200],
      [await fixture.send('readSession'), 401],
    ],
    signOut: () => callTwice(fixture, 'signOut'),
    signOutEverywhere: () => callTwice(fixture, 'signOutEverywhere'),
    patchOwnMember: async () => {
      const member = await asMember(fixture);
      const password = 'another password';
      const wrong = { password, currentPassword: 'something else' };
      return [
        [await fixture.send('patchOwnMember', { ...member, body: { name: 'Ada' } }), 200],
        [await fixture.send('patchOwnMember', { ...member, body: wrong }), 400],
      ];
    },
    setUp: async () => {
      // Setup works once per database, so it gets its own service.
      await using fresh = await startService();
      const link = await newSetupLink(fresh.store, fresh.url, fresh.clock.nowMs());
      const email = `${randomUUID()}@example.org`;
      const body = { token: tokenOf(link ?? ''), name: 'Ada', email, password: PASSWORD };
      return [
        [await fixture.contract.send(fresh.url, 'setUp', { body }), 201],
        [await fixture.contract.send(fresh.url, 'setUp', { body }), 401],
      ];
    },
    lookAtSetupLink: async () => {
      await using fresh = await startService();
      const link = await newSetupLink(fresh.store, fresh.url, fresh.clock.nowMs());
      const body = { token: tokenOf(link ?? '') };
      return [
        [await fixture.contract.send(fresh.url, 'lookAtSetupLink', { body }), 204],
        [await fixture.send('lookAtSetupLink', { body: { token: 'none' } }), 401],
      ];
    },
    lookAtLink: async () => {
      const { token } = await inviteMember(service, 'host');
      return [
        [await fixture.send('lookAtLink', { body: { token } }), 200],
        [await fixture.send('lookAtLink', { body: { token: 'none' } }), 401],
      ];
    },
    acceptLink: async () => {
      const { token } = await inviteMember(service, 'host');
      const body = { token, name: 'Ada', password: PASSWORD };
      return [
        [await fixture.send('acceptLink', { body: { ...body, password: 'short' } }), 400],
        [await fixture.send('acceptLink', { body }), 201],
        [await fixture.send('acceptLink', { body }), 401],
      ];
    },
    invite: async () => {
      const { email } = await newMember(service, 'host');
      const fresh = { email: `${randomUUID()}@example.org`, role: 'moderator' };
      return [
        [await fixture.sendAsAccount('invite', { body: fresh }), 201],
        [await fixture.sendAsAccount('invite', { body: { email, role: 'host' } }), 409],
      ];
    },
    listInvitations: async () => {
      await inviteMember(service, 'host');
      return [[await fixture.sendAsAccount('listInvitations'), 200]];
    },
    withdrawInvitation: async () => {
      const withdraw = { params: { invitation_id: (await inviteMember(service, 'host')).id } };
      return fixture.sendTwice('withdrawInvitation', withdraw, 204, 404);
    },
    listMembers: async () => {
      await newMember(service, 'moderator');
      return [[await fixture.sendAsAccount('listMembers'), 200]];
    },
    patchMember: async () => {
      const account = await service.createAccount();
      const { uuid } = await newMember(service, 'owner', account);
      const request = { params: { member_id: uuid }, authorization: `Token ${account.token}` };
      return [
        [await fixture.send('patchMember', { ...request, body: { role: 'owner' } }), 200],
        [await fixture.send('patchMember', { ...request, body: { role: 'host' } }), 409],
      ];
    },
    removeMember: async () => {
      const request = { params: { member_id: (await newMember(service, 'host')).uuid } };
      return fixture.sendTwice('removeMember', request, 204, 404);
    },
  };
}

const credentialOf = ({ cookie, csrf }: UserAgent) => ({
  headers: { Cookie: `${cookie}`, 'X-CSRF-Token': `${csrf}` },
});

async function asMember({ service }: Fixture) {
  return credentialOf((await newMember(service, 'moderator')).browser);
}

async function callTwice(fixture: Fixture, operationId: string): Promise<CheckedResponse[]> {
  return fixture.sendTwice(
    operationId,
    { authorization: undefined, ...(await asMember(fixture)) },
    204,
    401,
  );
}
