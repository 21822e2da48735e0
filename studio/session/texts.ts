import type { MemberRole } from '../../protocol/members.ts';

const ROLES: Readonly<Record<MemberRole, string>> = {
  owner: 'an owner',
  host: 'a host',
  moderator: 'a moderator',
};

/** The texts of the pages before sign-in: sign-in, invitation, password reset, first start. */
export const texts = {
  product: 'Fourbeat studio',
  opening: 'Opening the studio',
  openingFailed: 'Could not open the studio',
  fields: {
    name: 'Your name',
    email: 'Email',
    emailHelp: 'For signing in. No email is sent.',
    password: 'Password',
    newPassword: 'New password',
    newPasswordHelp: (chars: number) => `At least ${chars} characters.`,
  },
  signIn: {
    title: 'Sign in',
    action: 'Sign in',
    /** `{}` is the command. */
    help: 'Forgot your password? Ask an owner to remove you from the team and invite you again, or ask the operator of the service for a link from {}.',
  },
  link: {
    checkingTitle: 'Welcome',
    checking: 'Checking your link',
    invalid: 'This link no longer works',
    openStudio: 'Open the studio',
    checkFailed: 'Could not check the link',
  },
  invitation: {
    title: (account: string) => `Join ${account}`,
    /** `{}` is the name of the account. */
    heading: 'Join {}',
    explanation: (role: MemberRole, email: string) =>
      `You are invited as ${ROLES[role]}. You will sign in with ${email}.`,
    action: 'Join',
  },
  passwordReset: {
    title: 'Choose a new password',
    explanation: (email: string) => `For the account of ${email}.`,
    action: 'Save password',
  },
  firstStart: {
    title: 'Set up your account',
    explanation: 'You will be the owner and can invite others.',
    action: 'Create account',
  },
};
