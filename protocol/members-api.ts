import { z } from 'zod';
import {
  acceptLinkSchema,
  createdInvitationSchema,
  invitationSchema,
  linkSchema,
  linkTokenSchema,
  memberPatchSchema,
  memberSchema,
  newInvitationSchema,
  ownMemberPatchSchema,
  sessionSchema,
  setUpSchema,
  signInSchema,
} from './members.ts';
import type { Operation } from './operation.ts';
import { listOf } from './studio.ts';
import { ownerRead, ownerWrite, publicOperation, sessionOperation } from './studio-operation.ts';

const cookie = {
  'Set-Cookie': z.string().describe('The cookies of the session and of the browser'),
};
const sessionStarted = {
  201: { description: 'The session', schema: sessionSchema, headers: cookie },
} as const;
const sessionEnded = { 204: { description: 'Signed out', headers: cookie } } as const;
// A wrong password or link returns 401; too many attempts return 429.
const signInOperation = { ...publicOperation, errors: [401, 429] } as const;

/** Sessions, members and invitations of the studio (SPEC U). */
export const membersApi = {
  signIn: {
    ...signInOperation,
    method: 'POST',
    path: '/studio/v1/session',
    summary: 'Sign in',
    body: signInSchema,
    responses: sessionStarted,
  },
  readSession: {
    ...sessionOperation,
    method: 'GET',
    path: '/studio/v1/session',
    summary: 'Read the current session and its CSRF token',
    responses: { 200: { description: 'The session', schema: sessionSchema } },
  },
  signOut: {
    ...sessionOperation,
    method: 'DELETE',
    path: '/studio/v1/session',
    summary: 'Sign out',
    responses: sessionEnded,
  },
  signOutEverywhere: {
    ...sessionOperation,
    method: 'DELETE',
    path: '/studio/v1/sessions',
    summary: 'Sign out in every browser',
    responses: sessionEnded,
  },
  patchOwnMember: {
    ...sessionOperation,
    method: 'PATCH',
    path: '/studio/v1/session/member',
    summary: 'Change your own name or password',
    description: 'A new password ends all other sessions of this member.',
    body: ownMemberPatchSchema,
    responses: { 200: { description: 'The member', schema: memberSchema } },
  },
  setUp: {
    ...signInOperation,
    method: 'POST',
    path: '/studio/v1/setup',
    summary: 'Create the first account and its owner with the link that `fourbeat serve` prints',
    body: setUpSchema,
    responses: sessionStarted,
    errors: [401, 409, 429],
  },
  lookAtSetupLink: {
    ...signInOperation,
    method: 'POST',
    path: '/studio/v1/setup/look',
    summary: 'Check whether the link that `fourbeat serve` prints is still valid',
    body: linkTokenSchema,
    responses: { 204: { description: 'The link is valid' } },
  },
  lookAtLink: {
    ...signInOperation,
    method: 'POST',
    path: '/studio/v1/invitations/look',
    summary: 'Read the purpose of a link',
    body: linkTokenSchema,
    responses: { 200: { description: 'The purpose of the link', schema: linkSchema } },
  },
  acceptLink: {
    ...signInOperation,
    method: 'POST',
    path: '/studio/v1/invitations/accept',
    summary: 'Become a member or set a new password with a link',
    body: acceptLinkSchema,
    responses: sessionStarted,
    errors: [401, 409, 429],
  },
  invite: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/invitations',
    summary: 'Invite a person; the response contains the link, which is shown once',
    description: 'Replaces an open invitation of the same email.',
    body: newInvitationSchema,
    responses: { 201: { description: 'The invitation', schema: createdInvitationSchema } },
    errors: [409],
  },
  listInvitations: {
    ...ownerRead,
    method: 'GET',
    path: '/studio/v1/invitations',
    summary: 'List the open invitations, newest first',
    responses: { 200: { description: 'The invitations', schema: listOf(invitationSchema) } },
  },
  withdrawInvitation: {
    ...ownerWrite,
    method: 'DELETE',
    path: '/studio/v1/invitations/{invitation_id}',
    summary: 'Withdraw an invitation',
    responses: { 204: { description: 'Withdrawn' } },
  },
  listMembers: {
    ...ownerRead,
    method: 'GET',
    path: '/studio/v1/members',
    summary: 'List the members of the account, in the order they joined',
    responses: { 200: { description: 'The members', schema: listOf(memberSchema) } },
  },
  patchMember: {
    ...ownerWrite,
    method: 'PATCH',
    path: '/studio/v1/members/{member_id}',
    summary: 'Change the role of a member',
    body: memberPatchSchema,
    responses: { 200: { description: 'The member', schema: memberSchema } },
  },
  removeMember: {
    ...ownerWrite,
    method: 'DELETE',
    path: '/studio/v1/members/{member_id}',
    summary: 'Remove a member and end their sessions',
    responses: { 204: { description: 'Removed' } },
  },
} as const satisfies Record<string, Operation>;
