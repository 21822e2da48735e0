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
import { anybodys, ofSession, ownersRead, ownersWrite } from './studio-operation.ts';

const cookie = { 'Set-Cookie': z.string().meta({ description: 'The cookie of the session' }) };
const begun = {
  201: { description: 'The session', schema: sessionSchema, headers: cookie },
} as const;
const ended = { 204: { description: 'Signed out', headers: cookie } } as const;
// Who guesses is told 401, and soon 429.
const claim = { ...anybodys, errors: [401, 429] } as const;

/** Who signs in to the studio, and who may (SPEC U). */
export const membersApi = {
  signIn: {
    ...claim,
    method: 'POST',
    path: '/studio/v1/session',
    summary: 'Sign in',
    body: signInSchema,
    answers: begun,
  },
  readSession: {
    ...ofSession,
    method: 'GET',
    path: '/studio/v1/session',
    summary: 'Who is signed in, and the token that writes need',
    answers: { 200: { description: 'The session', schema: sessionSchema } },
  },
  signOut: {
    ...ofSession,
    method: 'DELETE',
    path: '/studio/v1/session',
    summary: 'Sign out',
    answers: ended,
  },
  signOutEverywhere: {
    ...ofSession,
    method: 'DELETE',
    path: '/studio/v1/sessions',
    summary: 'Sign out in every browser',
    answers: ended,
  },
  patchOwnMember: {
    ...ofSession,
    method: 'PATCH',
    path: '/studio/v1/session/member',
    summary: "Change one's own name or password",
    description: 'A new password ends all other sessions of the member.',
    body: ownMemberPatchSchema,
    answers: { 200: { description: 'The member', schema: memberSchema } },
  },
  setUp: {
    ...claim,
    method: 'POST',
    path: '/studio/v1/setup',
    summary: 'Make the first account and its owner, by the link that `fourbeat serve` prints',
    body: setUpSchema,
    answers: begun,
    errors: [401, 409, 429],
  },
  lookAtLink: {
    ...claim,
    method: 'POST',
    path: '/studio/v1/invitations/look',
    summary: 'What a link is for',
    body: linkTokenSchema,
    answers: { 200: { description: 'What it is for', schema: linkSchema } },
  },
  acceptLink: {
    ...claim,
    method: 'POST',
    path: '/studio/v1/invitations/accept',
    summary: 'Become a member, or set a new password, by a link',
    body: acceptLinkSchema,
    answers: begun,
    errors: [401, 409, 429],
  },
  invite: {
    ...ownersWrite,
    method: 'POST',
    path: '/studio/v1/invitations',
    summary: 'Invite somebody; the link is shown this once',
    description: 'An open invitation of the same e-mail is replaced.',
    body: newInvitationSchema,
    answers: { 201: { description: 'The invitation', schema: createdInvitationSchema } },
    errors: [409],
  },
  listInvitations: {
    ...ownersRead,
    method: 'GET',
    path: '/studio/v1/invitations',
    summary: 'The open invitations, newest first',
    answers: { 200: { description: 'The invitations', schema: listOf(invitationSchema) } },
  },
  withdrawInvitation: {
    ...ownersWrite,
    method: 'DELETE',
    path: '/studio/v1/invitations/{invitation_id}',
    summary: 'Withdraw an invitation',
    answers: { 204: { description: 'Withdrawn' } },
    errors: [404, 409],
  },
  listMembers: {
    ...ownersRead,
    method: 'GET',
    path: '/studio/v1/members',
    summary: 'The members of the account, in the order they came',
    answers: { 200: { description: 'The members', schema: listOf(memberSchema) } },
  },
  patchMember: {
    ...ownersWrite,
    method: 'PATCH',
    path: '/studio/v1/members/{member_id}',
    summary: 'Give a member another role',
    body: memberPatchSchema,
    answers: { 200: { description: 'The member', schema: memberSchema } },
    errors: [404, 409],
  },
  removeMember: {
    ...ownersWrite,
    method: 'DELETE',
    path: '/studio/v1/members/{member_id}',
    summary: 'Remove a member, whose sessions end',
    answers: { 204: { description: 'Removed' } },
    errors: [404, 409],
  },
} as const satisfies Record<string, Operation>;
