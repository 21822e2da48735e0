/** What can be done by keyboard while a show is on; the one place where keys are chosen. */
export interface Shortcut {
  /** As they are printed on a keyboard. */
  readonly keys: readonly string[];
  readonly does: string;
}

/** Keys for a line of the chat that has the focus, by what they do. */
export const LINE_KEYS = {
  pin: 'p',
  hide: 'h',
  mute: 'm',
  ban: 'b',
  queue: 'q',
} as const;
export type LineKey = keyof typeof LINE_KEYS;

export const HELP_KEY = '?';

const LINE_WORDS: Readonly<Record<LineKey, string>> = {
  pin: 'Pins it above the chat, or takes it down',
  hide: 'Hides it',
  mute: 'Mutes who wrote it for 10 minutes',
  ban: 'Bans who wrote it, after a question',
  queue: 'Puts it into the queue of questions',
};

/** All of them, by where they work. */
export const SHORTCUTS: readonly { readonly where: string; readonly all: readonly Shortcut[] }[] = [
  {
    where: 'Anywhere on this page',
    all: [
      { keys: ['Ctrl', 'Enter'], does: 'Presses the big button' },
      { keys: [HELP_KEY], does: 'Opens this list' },
    ],
  },
  {
    where: 'In the chat',
    all: [
      { keys: ['↑', '↓'], does: 'Go to the line above or below' },
      { keys: ['Home', 'End'], does: 'Go to the newest, or to the oldest that is there' },
    ],
  },
  {
    where: 'On a line of the chat',
    all: (Object.keys(LINE_KEYS) as LineKey[]).map((name) => ({
      keys: [LINE_KEYS[name].toUpperCase()],
      does: LINE_WORDS[name],
    })),
  },
];

/** What a key means on a line; null: nothing. */
export function lineKeyOf(key: string): LineKey | null {
  const names = Object.keys(LINE_KEYS) as LineKey[];
  return names.find((name) => LINE_KEYS[name] === key.toLowerCase()) ?? null;
}
