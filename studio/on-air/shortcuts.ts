/** Keyboard shortcuts of the on-air page. */
export interface Shortcut {
  /** As printed on a keyboard. */
  readonly keys: readonly string[];
  readonly effect: string;
}

/** Keys for the focused chat message, by action. */
export const MESSAGE_KEYS = {
  pin: 'p',
  hide: 'h',
  mute: 'm',
  ban: 'b',
  queue: 'q',
} as const;
export type MessageShortcut = keyof typeof MESSAGE_KEYS;

export const HELP_KEY = '?';

const MESSAGE_KEY_HELP: Readonly<Record<MessageShortcut, string>> = {
  pin: 'Pin above the chat, or unpin',
  hide: 'Hide, or undo within 5 seconds',
  mute: 'Mute the author for 10 minutes',
  ban: 'Ban the author, after confirmation',
  queue: 'Add to the question queue',
};

export const SHORTCUTS: readonly { readonly where: string; readonly all: readonly Shortcut[] }[] = [
  {
    where: 'Anywhere on this page',
    all: [
      { keys: ['Ctrl', 'Enter'], effect: 'Take the next step of the show' },
      { keys: [HELP_KEY], effect: 'Open this list' },
    ],
  },
  {
    where: 'In the chat',
    all: [
      { keys: ['↑', '↓'], effect: 'Go to the previous or next message' },
      { keys: ['Home', 'End'], effect: 'Go to the newest or oldest loaded message' },
    ],
  },
  {
    where: 'On a chat message',
    all: (Object.keys(MESSAGE_KEYS) as MessageShortcut[]).map((name) => ({
      keys: [MESSAGE_KEYS[name].toUpperCase()],
      effect: MESSAGE_KEY_HELP[name],
    })),
  },
];

/** The shortcut for a key on a chat message; null: none. */
export function messageShortcutOf(key: string): MessageShortcut | null {
  const names = Object.keys(MESSAGE_KEYS) as MessageShortcut[];
  return names.find((name) => MESSAGE_KEYS[name] === key.toLowerCase()) ?? null;
}

/** Selects an open dialog. Toasts have the role "alertdialog" too, but are not modal. */
export const OPEN_DIALOG = '[role=dialog], [role=alertdialog]:not([aria-modal=false])';
