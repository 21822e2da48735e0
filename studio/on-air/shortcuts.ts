import { texts } from './texts.ts';

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
  pin: texts.shortcuts.message.pin,
  hide: texts.shortcuts.message.hide,
  mute: texts.shortcuts.message.mute,
  ban: texts.shortcuts.message.ban,
  queue: texts.shortcuts.message.queue,
};

const { keys } = texts.shortcuts;

export const SHORTCUTS: readonly { readonly where: string; readonly all: readonly Shortcut[] }[] = [
  {
    where: texts.shortcuts.anywhere,
    all: [
      { keys: [keys.control, keys.enter], effect: texts.shortcuts.nextStep },
      { keys: [HELP_KEY], effect: texts.shortcuts.openList },
    ],
  },
  {
    where: texts.shortcuts.inChat,
    all: [
      { keys: ['↑', '↓'], effect: texts.shortcuts.neighbor },
      { keys: [keys.home, keys.end], effect: texts.shortcuts.ends },
    ],
  },
  {
    where: texts.shortcuts.onMessage,
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
