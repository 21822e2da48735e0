import { FourbeatError } from '../../../../sdk/errors.ts';
import type { ChatState, PinnedMessage } from '../../../../sdk/types.ts';
import type { Snapshot } from '../../../../sdk/viewer.ts';
import { type FakeViewer, fakeViewer, STREAM } from './fake-viewer.ts';

type SnapshotMessage = Snapshot['messages'][number];

const NAMES = ['Ada', 'Bo', 'Carla', 'Dembe', 'Ewa', 'Farid', 'Grace-Anne', 'Hiro'];
const TEXTS: readonly (readonly [SnapshotMessage['kind'], string])[] = [
  ['greeting', 'Hello from Lisbon!'],
  ['message', 'The sound is great today'],
  ['cheer', 'Go Blue!'],
  ['question', 'Will there be a second round after the break, or is this the last one?'],
  ['message', 'It must be the big one'],
  ['purchase', 'bought two mugs'],
  [
    'message',
    'A longer line, written by somebody who has much to say about planets and their moons',
  ],
  ['message', 'ok'],
];

export function messagesOf(count: number): SnapshotMessage[] {
  return Array.from({ length: count }, (_, number) => {
    const [kind, text] = TEXTS[number % TEXTS.length] as (typeof TEXTS)[number];
    return {
      id: `message ${number}`,
      viewer: kind === 'purchase' ? '' : `viewer ${number % NAMES.length}`,
      name: NAMES[number % NAMES.length] as string,
      text,
      at: 1_790_000_000_000 + number,
      kind,
    };
  });
}

const LONG_PINNED: PinnedMessage = {
  id: 'pinned',
  viewer: 'viewer 3',
  name: 'Dembe',
  text: `${'The second round begins at nine, and has ten questions. '.repeat(4)}Stay with us!`,
  at: 1_790_000_000_000,
  kind: 'message',
};

/** A viewer of a moderated chat. */
function moderated(chat: Partial<ChatState>): FakeViewer {
  const unmoderated = {
    ...{ slow_mode_ms: 0, paused: false, pinned: null },
    ...{ hidden: ['message 1'], recent: [] },
  };
  const viewer = fakeViewer({
    messages: messagesOf(14),
    stream: { ...STREAM, chat: { ...unmoderated, ...chat } },
  });
  viewer.name = 'Ada';
  return viewer;
}

export const CHAT_SCENES: Readonly<Record<string, () => FakeViewer>> = {
  'chat-empty': () => fakeViewer(),
  'chat-messages': () => {
    const viewer = fakeViewer({ messages: messagesOf(14), hearts: 5_210, discounts: 5 });
    viewer.name = 'Ada';
    viewer.whenSubscribed('change', () => {
      viewer.show({ discounts: 15 });
      setTimeout(() => viewer.show({ messages: messagesOf(16) }));
    });
    return viewer;
  },
  'chat-error': () => {
    const viewer = fakeViewer({ messages: messagesOf(3) });
    viewer.name = 'Ada';
    viewer.sendMessage = () => Promise.reject(new FourbeatError('busy', 'too many', 429, 5_000));
    return viewer;
  },
  'chat-slow': () => moderated({ slow_mode_ms: 10_000 }),
  'chat-paused': () => moderated({ paused: true }),
  'chat-pinned': () => moderated({ slow_mode_ms: 90_000, pinned: LONG_PINNED }),
  'chat-over': () => fakeViewer({ state: 'ended', messages: messagesOf(9), hearts: 12 }),
  hearts: () => {
    const viewer = fakeViewer({ messages: messagesOf(4), hearts: 40 });
    for (const [number, hearts] of [48, 80, 140, 900].entries()) {
      setTimeout(() => viewer.show({ hearts }), 100 + number * 180);
    }
    return viewer;
  },
};
