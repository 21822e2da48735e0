/** The texts of the display, and of its part of the set-up page. */
export const texts = {
  card: {
    title: 'Display',
    explanation:
      'Shows the question, countdown and results on a screen on stage, or over your video in OBS.',
    open: 'Open the display',
    newTab: '(opens a new tab)',
    loading: 'Loading link',
    noLink:
      'To open the display on another machine, create a link. Anyone with the link can see the display, and nothing else.',
    created: (time: string) => `Link created ${time}.`,
    create: 'Create link',
    replaceButton: 'Replace link',
    replaceTitle: 'Replace the link?',
    replaceHelp: 'The old link stops working. Open the new one on every screen that uses it.',
    replace: 'Replace',
    revokeButton: 'Revoke link',
    revokeTitle: 'Revoke the link?',
    revokeHelp: 'Displays that use the link go blank within two seconds.',
    revoke: 'Revoke',
    revoked: 'The link no longer works.',
  },
  newLink: {
    title: 'Display link',
    overlay: 'Transparent background',
    overlayHelp: 'For an OBS browser source, for example 1920 × 1080.',
    liveBars: 'Live answer counts',
    liveBarsHelp: 'Everyone who sees the display sees the answers while the quiz is open.',
    copy: 'Copy the link',
    shownOnce:
      'Copy the link now. It is not shown again. Links with other settings work at the same time.',
  },
  sounds: 'Sounds',
  fullScreen: 'Full screen',
  watching: 'watching',
  /** `{}` is the number of answers. */
  answers: (count: number) => (count === 1 ? '{} answer' : '{} answers'),
  join: {
    /** `{}` is the address of the viewer page. */
    address: 'Join at {}',
    qrCode: 'QR code of the viewer page',
  },
  headlines: {
    startingSoon: 'Starting soon',
    thanks: 'Thank you!',
    ended: 'The show has ended.',
    whoWon: 'Who won?',
    counting: 'Counting the winners…',
    noWinners: 'No winners',
    noWinnersHelp: 'Nobody answered every quiz correctly.',
    winners: (count: number) => (count === 1 ? 'winner!' : 'winners!'),
  },
  quiz: {
    timeIsUp: 'Time is up',
    secondsLeft: 'seconds left',
    correct: '(correct)',
    percent: (percentage: number) => `${percentage} %`,
  },
  winners: {
    /** `{}` is the number of winners, two or more. */
    count: '{} winners!',
    only: 'The winner is',
    more: (count: number) => `and ${count.toLocaleString()} more`,
  },
  refused: {
    title: 'This display is not available',
    unknownShow: 'Your studio has no such show. Open the display from the show’s page.',
    invalidLink: 'This link no longer works. Create a new one on the show’s page in the studio.',
    signedOut:
      'Sign in to the studio in this browser, or open a display link from the show’s page.',
  },
};
