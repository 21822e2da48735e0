import type { MemberRole } from '../../protocol/members.ts';

const roles: Readonly<Record<MemberRole, { readonly name: string; readonly help: string }>> = {
  owner: { name: 'Owner', help: 'Full access, including team and API tokens' },
  host: { name: 'Host', help: 'Creates and runs shows' },
  moderator: { name: 'Moderator', help: 'Views shows and moderates the chat' },
};

/** The texts of the team page. */
export const texts = {
  title: 'Team',
  loading: 'Loading members',
  roles,
  members: {
    you: '(you)',
    roleOf: (name: string) => `Role of ${name}`,
    remove: 'Remove',
    removeName: (name: string) => `Remove ${name}`,
    /** `{}` is the name of the member. */
    removeTitle: 'Remove {}?',
    removeHelp: 'They are signed out everywhere at once. Their shows remain.',
    removeOwnerHelp:
      'They are signed out everywhere at once, and open invitations end. Their shows remain. Revoke API tokens that they know.',
    removed: '{} was removed.',
  },
  invitations: {
    title: 'Invited',
    expires: (role: string, time: string) => `${role} · link expires ${time}`,
    revoke: 'Revoke',
    revokeEmail: (email: string) => `Revoke the invitation for ${email}`,
  },
  invite: {
    button: 'Invite member',
    title: 'Invite a member',
    email: 'Email',
    emailHelp: 'For signing in. No email is sent.',
    role: 'Role',
    action: 'Create link',
    copyLink: 'Copy the link',
    sendLink: (email: string) =>
      `Send this link to ${email}. It works once, expires after seven days and is not shown again.`,
  },
};
