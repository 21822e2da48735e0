/** The texts of the layout that all pages share. */
export const texts = {
  product: 'Fourbeat studio',
  documentTitle: (page: string) => `${page} · Fourbeat studio`,
  skip: 'Skip to content',
  navigation: 'Studio',
  sections: {
    shows: 'Shows',
    team: 'Team',
    tokens: 'API tokens',
    webhooks: 'Webhooks',
    profile: 'Profile',
  },
  signOut: 'Sign out',
  notFound: {
    title: 'Page not found',
    explanation: 'This page does not exist',
    allShows: 'All shows',
  },
  justNow: 'just now',
};
