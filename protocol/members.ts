import { z } from 'zod';
import { userSchema } from './accounts.ts';
import { email, text, unixMs, uuid } from './text.ts';

/** Roles of members, from most to least permissions. A service token acts as an owner. */
export const MEMBER_ROLES = ['owner', 'host', 'moderator'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

export const PRODUCING_ROLES = ['owner', 'host'] as const;

/** The header with the CSRF token, required for writes with a session cookie. */
export const CSRF_HEADER = 'X-CSRF-Token';

export const PASSWORD_CHARS_MIN = 10;
export const PASSWORD_CHARS_MAX = 200;
const NAME_CHARS = 80;

const role = z.enum(MEMBER_ROLES);

/** A member's email, folded to lower case so that it is unique regardless of case. */
const memberEmail = email.toLowerCase();

const password = text(PASSWORD_CHARS_MAX)
  .min(PASSWORD_CHARS_MIN, `must be at least ${PASSWORD_CHARS_MIN} characters`)
  .meta({ format: 'password' });
// A password to verify has no minimum length: a short one is wrong, not malformed.
const claimedPassword = text(PASSWORD_CHARS_MAX).meta({ format: 'password' });
const linkToken = text(100).describe('The part of the link after the `=`');

const EXAMPLE_MEMBER = {
  uuid: '16fd2706-8baf-433b-82eb-8c7fada847da',
  email: 'ada@example.org',
  name: 'Ada',
  role: 'host',
  created: 1_760_000_000_000,
};

/** A person who signs in to an account. */
export const memberSchema = z
  .object({ uuid, email: z.string(), name: z.string(), role, created: unixMs })
  .meta({ id: 'Member', examples: [EXAMPLE_MEMBER] });
export type Member = z.infer<typeof memberSchema>;

export const sessionSchema = z
  .object({
    member: memberSchema.omit({ created: true }),
    account: userSchema.omit({ created: true }),
    csrf: z.string().describe(`Send it as ${CSRF_HEADER} with every write`),
    created: unixMs,
    expires: unixMs.describe('When the session expires unless it is used'),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof sessionSchema>;

export const signInSchema = z
  .strictObject({ email: memberEmail, password: claimedPassword })
  .meta({ id: 'SignIn' });

/** Creates the first account and its owner. */
export const setUpSchema = z
  .strictObject({ token: linkToken, name: text(NAME_CHARS), email: memberEmail, password })
  .meta({ id: 'SetUp' });

export const newInvitationSchema = z
  .strictObject({ email: memberEmail, role })
  .meta({ id: 'NewInvitation', examples: [{ email: 'ada@example.org', role: 'host' }] });

export const invitationSchema = z
  .object({ id: uuid, email: z.string(), role, created: unixMs, expires: unixMs })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof invitationSchema>;

export const createdInvitationSchema = invitationSchema
  .extend({
    link: z.string().describe('The link for the invited person, shown only in this response'),
  })
  .meta({ id: 'CreatedInvitation' });

const LINK_KINDS = ['invitation', 'password'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

export const linkTokenSchema = z.strictObject({ token: linkToken }).meta({ id: 'LinkToken' });

/** The purpose of a one-time link. */
export const linkSchema = z
  .object({
    kind: z
      .enum(LINK_KINDS)
      .describe('`invitation` creates a member, `password` sets the password of a member'),
    email: z.string(),
    role,
    account: z.object({ name: z.string() }),
  })
  .meta({ id: 'Link' });
export type Link = z.infer<typeof linkSchema>;

export const acceptLinkSchema = z
  .strictObject({
    token: linkToken,
    name: text(NAME_CHARS)
      .optional()
      .describe('Name of the new member; required for an invitation'),
    password,
  })
  .meta({ id: 'AcceptLink' });

export const memberPatchSchema = z.strictObject({ role }).meta({ id: 'MemberPatch' });

/** Changes of a member to itself. A new password requires the current one. */
export const ownMemberPatchSchema = z
  .strictObject({
    name: text(NAME_CHARS).optional(),
    password: password.optional(),
    currentPassword: claimedPassword.optional(),
  })
  .refine((body) => body.name !== undefined || body.password !== undefined, {
    message: 'must contain at least one field to change',
  })
  .refine((body) => body.password === undefined || body.currentPassword !== undefined, {
    path: ['currentPassword'],
    message: 'is missing; a new password requires the current one',
  })
  .meta({ id: 'OwnMemberPatch', minProperties: 1 });
