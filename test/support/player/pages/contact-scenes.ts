import type { ContactApi, ContactRequest } from '../../../../player/contact/contact-api.ts';
import { messagesOf } from './chat-scenes.ts';
import { type FakeViewer, fakeViewer } from './fake-viewer.ts';

const WINNING = { isWinning: null, hasWon: true, count: 3 };

const winner = (): FakeViewer =>
  Object.assign(fakeViewer({ messages: messagesOf(14), winners: WINNING }), { name: 'Ada' });

export const CONTACT_SCENES: Readonly<Record<string, () => FakeViewer>> = {
  contact: winner,
  'contact-sent': winner,
  'contact-failing': winner,
};

/** The service of a scene whose viewer has won; null: of another scene. */
export function contactApiOf(scene: string): ContactApi | null {
  if (!(scene in CONTACT_SCENES)) return null;
  const details =
    scene === 'contact-sent' ? { name: 'Ada Lovelace', contact: 'ada@example.org' } : null;
  let request: ContactRequest = {
    roundId: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
    note: 'Where may we send your prize? We write to you within a week.',
    details,
  };
  return {
    read: async () => request,
    save: async (_, sent) => {
      if (scene === 'contact-failing') throw new Error('no connection');
      request = { ...request, details: sent };
      return true;
    },
    erase: async () => {
      request = { ...request, details: null };
    },
  };
}
