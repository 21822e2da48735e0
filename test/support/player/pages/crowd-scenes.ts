import { FourbeatError } from '../../../../sdk/errors.ts';
import type { PinnedLine, StreamChat } from '../../../../sdk/types.ts';
import type { Snapshot } from '../../../../sdk/viewer.ts';
import { type FakeViewer, fakeViewer, STREAM } from './fake-viewer.ts';

type Line = Snapshot['lines'][number];

const NAMES = ['Ada', 'Bo', 'Carla', 'Dembe', 'Ewa', 'Farid', 'Grace-Anne', 'Hiro'];
const TEXTS: readonly (readonly [Line['kind'], string])[] = [
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

export function linesOf(count: number): Line[] {
  return Array.from({ length: count }, (_, number) => {
    const [kind, text] = TEXTS[number % TEXTS.length] as (typeof TEXTS)[number];
    return {
      id: `line ${number}`,
      viewer: kind === 'purchase' ? '' : `viewer ${number % NAMES.length}`,
      name: NAMES[number % NAMES.length] as string,
      text,
      at: 1_790_000_000_000 + number,
      kind,
    };
  });
}

const LONG_LINE: PinnedLine = {
  id: 'pinned',
  viewer: 'viewer 3',
  name: 'Dembe',
  text: `${'The second round begins at nine, and has ten questions. '.repeat(4)}Stay with us!`,
  at: 1_790_000_000_000,
  kind: 'message',
};

/** A chat that somebody keeps in order. */
function moderated(chat: Partial<StreamChat>): FakeViewer {
  const none = { slow_mode_ms: 0, paused: false, pinned: null, hidden: ['line 1'] };
  const viewer = fakeViewer({
    lines: linesOf(14),
    stream: { ...STREAM, chat: { ...none, ...chat } },
  });
  viewer.name = 'Ada';
  return viewer;
}

export const CROWD_SCENES: Readonly<Record<string, () => FakeViewer>> = {
  'chat-empty': () => fakeViewer(),
  'chat-lines': () => {
    const viewer = fakeViewer({ lines: linesOf(14), hearts: 5_210, discounts: 5 });
    viewer.name = 'Ada';
    viewer.whenHeard('change', () => {
      viewer.show({ discounts: 15 });
      setTimeout(() => viewer.show({ lines: linesOf(16) }));
    });
    return viewer;
  },
  'chat-trouble': () => {
    const viewer = fakeViewer({ lines: linesOf(3) });
    viewer.name = 'Ada';
    viewer.say = () => Promise.reject(new FourbeatError('busy', 'too many', 429, 5_000));
    return viewer;
  },
  'chat-slow': () => moderated({ slow_mode_ms: 10_000 }),
  'chat-paused': () => moderated({ paused: true }),
  'chat-pinned': () => moderated({ slow_mode_ms: 90_000, pinned: LONG_LINE }),
  'chat-over': () => fakeViewer({ state: 'ended', lines: linesOf(9), hearts: 12 }),
  hearts: () => {
    const viewer = fakeViewer({ lines: linesOf(4), hearts: 40 });
    for (const [number, hearts] of [48, 80, 140, 900].entries()) {
      setTimeout(() => viewer.show({ hearts }), 100 + number * 180);
    }
    return viewer;
  },
};
