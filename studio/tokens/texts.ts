/** The texts of the page for API tokens. */
export const texts = {
  title: 'API tokens',
  explanation:
    'With a token, your programs can do what you can do here: create shows, send quizzes, read results. Keep tokens as safe as passwords.',
  loading: 'Loading tokens',
  empty: {
    title: 'No tokens yet',
    help: 'Create a token when one of your programs needs to call the API.',
  },
  create: {
    button: 'New token',
    title: 'New API token',
    name: 'Name',
    nameHelp: 'The program that uses it, for example “Shop backend”.',
    action: 'Create',
    copyToken: 'Copy the token',
    shownOnce: 'Copy the token now. It is not shown again.',
  },
  token: {
    created: (time: string) => `created ${time}`,
    neverUsed: 'never used',
    lastUsed: (time: string) => `last used ${time}`,
  },
  revoke: {
    action: 'Revoke',
    label: (name: string) => `Revoke ${name}`,
    /** `{}` is the name of the token. */
    title: 'Revoke {}?',
    help: 'Programs that use it lose access at once. This cannot be undone.',
    done: '{} was revoked.',
  },
};
