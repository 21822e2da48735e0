import type { QuestionState, Restriction } from '../../../protocol/moderation.ts';
import { quantity } from '../../ui/quantity.ts';

/** The kinds of messages that have a badge. */
const kinds = {
  question: 'Question',
  greeting: 'Greeting',
  cheer: 'Cheer',
  purchase: 'Purchase',
};

const restrictions: Readonly<Record<Restriction, string>> = { muted: 'Muted', banned: 'Banned' };

const queueStates: Readonly<Record<QuestionState, string>> = {
  open: 'Open',
  answered: 'Answered',
  dismissed: 'Dismissed',
};

/** The state of a question at its message. */
const questionStates: Readonly<Record<QuestionState, string>> = {
  open: 'In the queue',
  answered: 'Answered',
  dismissed: 'Dismissed',
};

const emptyQueues: Readonly<Record<QuestionState, string>> = {
  open: 'No open questions. Use a message’s menu to add it to the queue.',
  answered: 'No answered questions.',
  dismissed: 'No dismissed questions.',
};

/** The texts of the chat on the on-air page. */
export const texts = {
  title: 'Chat',
  anonymous: 'A viewer',
  heartsPerMinute: (hearts: number) => `${quantity(hearts, 'heart')} per minute`,
  heartsShort: (hearts: number) => `${hearts.toLocaleString()}/min`,
  pause: 'Pause chat',
  views: {
    label: 'Messages',
    all: 'All',
    questions: 'Questions',
    queue: 'Queue',
    queueWithOpen: (open: number) => `Queue (${open})`,
  },
  messages: {
    label: 'Messages, newest first',
    empty: 'No messages yet.',
    emptyQuestions: 'No questions yet.',
    new: (count: number) => quantity(count, 'new message'),
    loadingEarlier: 'Loading earlier messages…',
    earlierFailed: 'Earlier messages could not be loaded.',
    tryAgain: 'Try again',
  },
  message: {
    kinds,
    restrictions,
    questionStates,
    label: (name: string, text: string) => `${name}: ${text}`,
    pinned: 'Pinned',
    hiding: 'Hiding',
    hidingBadge: 'Hiding…',
    hidden: 'Hidden',
    hideFrom: (name: string) => `Hide the message from ${name}`,
    undoHideFrom: (name: string) => `Undo: show the message from ${name}`,
    undo: 'Undo',
    actionsFor: (name: string) => `Actions for ${name}`,
  },
  actions: {
    unban: 'Lift ban',
    unmute: 'Unmute',
    mute: (minutes: number) => `Mute for ${minutes} minutes`,
    muteForShow: 'Mute for the show',
    ban: 'Ban…',
    pin: 'Pin above the chat',
    unpin: 'Unpin',
    queue: 'Add to queue',
    answered: 'Mark as answered',
    dismissed: 'Dismiss',
    hide: 'Hide',
    undoHide: 'Undo hiding',
  },
  pinned: { label: 'Pinned:', unpin: 'Unpin message' },
  queue: {
    state: 'Questions to show',
    states: queueStates,
    label: 'Questions, oldest first',
    empty: emptyQueues,
  },
  ban: {
    /** `{}` is the name of the viewer. */
    title: 'Ban {}?',
    titleAnonymous: 'Ban this viewer?',
    action: 'Ban',
    help: 'They leave the show within a second and no longer count as a viewer. You can lift the ban in the chat settings.',
    hideMessages: 'Hide their messages',
    hideMessagesHelp: 'For all viewers. This cannot be undone.',
  },
  /** `{}` is the name of the viewer. */
  done: {
    muted: (minutes: number) => `{} is muted for ${minutes} minutes.`,
    mutedForShow: '{} is muted for the show.',
    banned: '{} is banned.',
  },
  settings: {
    title: 'Chat settings',
    slowMode: 'Slow mode',
    slowModeOff: 'Slow mode off',
    perMinutes: (minutes: number) => `1 message per ${minutes} min`,
    perSeconds: (seconds: number) => `1 message per ${seconds} s`,
    close: 'Close',
  },
  restricted: {
    title: 'Muted and banned',
    empty: 'No muted or banned viewers. Use a message’s menu to mute or ban someone.',
    more: (count: number) => `and ${count.toLocaleString()} more`,
    mutedForShow: 'Muted for the show',
    mutedUntil: (time: string) => `Muted until ${time}`,
    bannedForShow: 'Banned for the show',
    bannedUntil: (time: string) => `Banned until ${time}`,
    /** `{}` is the name of the host. @param restriction "Muted until 8:04 PM" */
    by: (restriction: string) => `${restriction}, by {}`,
  },
};
