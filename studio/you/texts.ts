/** The texts of the profile page. */
export const texts = {
  title: 'Profile',
  /** `{}` is the name of the account. */
  roleOf: (role: string) => `${role} of {}`,
  name: {
    title: 'Name',
    label: 'Your name',
    action: 'Save',
    done: 'Name saved.',
  },
  password: {
    title: 'Password',
    current: 'Current password',
    action: 'Change password',
    done: 'Password changed. You are signed out everywhere else.',
  },
  signOut: {
    title: 'Sign out',
    here: 'On this device',
    everywhere: 'Everywhere',
    everywhereHelp: '“Everywhere” signs you out in all browsers and on all devices.',
  },
};
