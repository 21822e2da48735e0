import type { ContactApi } from '../../../../player/contact/contact-api.ts';
import type { OwnContact } from '../../../../protocol/winner-contacts.ts';
import { messagesOf } from './chat-scenes.ts';
import { type FakeViewer, fakeViewer } from './fake-viewer.ts';

const WINNING = { isWinning: null, hasWon: true, count: 3 };
const DETAILS = { name: 'Ada Lovelace', contact: 'ada@example.org' };
const REQUEST = {
  roundId: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  note: 'Where may we send your prize? We write to you within a week.',
  details: null,
};

const ASKED: OwnContact = { request: REQUEST, hasDetails: false };

/** What the service has of the winner at first, by scene. */
const INITIAL: Readonly<Record<string, OwnContact>> = {
  contact: ASKED,
  'contact-sent': { request: { ...REQUEST, details: DETAILS }, hasDetails: true },
  'contact-failing': ASKED,
  // Asked about another win than that for which it sent its details.
  'contact-again': { request: REQUEST, hasDetails: true },
  // Not asked any more.
  'contact-stored': { request: null, hasDetails: true },
  // Not asked before the second read.
  'contact-later': { request: null, hasDetails: false },
};

const winner = (): FakeViewer =>
  Object.assign(fakeViewer({ messages: messagesOf(14), winners: WINNING }), { name: 'Ada' });

export const CONTACT_SCENES: Readonly<Record<string, () => FakeViewer>> = Object.fromEntries(
  Object.keys(INITIAL).map((scene) => [scene, winner]),
);

/** The service of a scene whose viewer has won; null: of another scene. */
export function contactApiOf(scene: string): ContactApi | null {
  const initial = INITIAL[scene];
  if (!initial) return null;
  let own: OwnContact = initial;
  return {
    read: async () => {
      const before = own;
      if (scene === 'contact-later') own = ASKED;
      return before;
    },
    save: async (_, details) => {
      if (scene === 'contact-failing') throw new Error('no connection');
      own = { request: { ...REQUEST, details }, hasDetails: true };
      return true;
    },
    erase: async () => {
      own = { request: own.request && REQUEST, hasDetails: false };
    },
  };
}
