import { CONTACTS_SENT_MAX } from '../../protocol/limits.ts';

/** The texts of the contact details of winners. */
export const texts = {
  ask: 'Ask for contact details',
  open: (contacts: number, winners: number) => {
    // A round counts no more.
    const orMore = contacts >= CONTACTS_SENT_MAX && winners > contacts ? '+' : '';
    return `Contact details: ${contacts.toLocaleString()}${orMore} of ${winners.toLocaleString()}`;
  },
  title: 'Contact details of the winners',
  help: 'Winners of this round get a form on their page, also after the show. Only owners and hosts read what they send.',
  note: 'What winners read above the form',
  defaultNote: 'Congratulations! How can we reach you about your prize?',
  askAction: 'Ask the winners',
  asked: 'The winners are asked:',
  stop: 'Stop asking',
  loading: 'Loading contact details',
  empty: 'Nobody has answered yet.',
  list: 'Contact details',
  full: `The list has the newest ${CONTACTS_SENT_MAX.toLocaleString()} answers; the file has all.`,
  erase: 'Erase',
  eraseLabel: (name: string) => `Erase the contact details of ${name}`,
  eraseTitle: 'Erase these contact details?',
  eraseHelp: 'They cannot be recovered.',
  eraseAll: 'Erase all',
  eraseAllTitle: 'Erase the contact details of this round?',
  eraseAllHelp: 'They cannot be recovered, and the winners are no longer asked.',
  done: 'Done',
  download: 'Download as CSV',
};
