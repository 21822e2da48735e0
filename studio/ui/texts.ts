/** The texts of the parts that all pages use. */
export const texts = {
  loading: (what: string) => `${what}…`,
  unknownError: 'Something went wrong. Try again.',
  tryAgain: 'Try again',
  playerNotLoaded: 'The video player did not load.',
  reload: 'Reload the page',
  cancel: 'Cancel',
  done: 'Done',
  discard: {
    title: 'Discard your changes?',
    help: 'What you entered is not saved.',
    action: 'Discard',
    cancel: 'Keep editing',
  },
  copied: 'Copied',
  copyingBlocked: 'Your browser blocked copying. Select the text and copy it by hand.',
  closeMessage: 'Close message',
  chooseOne: 'Choose at least one.',
  correctChoice: '✓ correct',
};
