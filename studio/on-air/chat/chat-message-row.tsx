import {
  Ban,
  Check,
  EyeOff,
  ListPlus,
  MessageSquare,
  MicOff,
  Pin,
  PinOff,
  Timer,
  Undo2,
  X,
} from 'lucide-react';
import { memo } from 'react';
import type {
  QuestionState,
  Restriction,
  StoredChatMessage,
} from '../../../protocol/moderation.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Menu, type MenuAction } from '../../ui/menu.tsx';
import type { MessageShortcut } from '../shortcuts.ts';
import { ANONYMOUS_NAME, MUTE_MINUTES } from './use-moderation.ts';

/** What hosts did to a message and its author. */
export interface MessageStatus {
  readonly isHidden: boolean;
  /** Will be hidden unless the host undoes it. */
  readonly isHiding: boolean;
  readonly isPinned: boolean;
  /** null: the author may write. */
  readonly restriction: Restriction | null;
  /** null: not in the question queue. */
  readonly question: QuestionState | null;
}

/** An action of a host on a message or its author. */
export type MessageAction =
  | MessageShortcut
  | 'undo-hide'
  | 'mute-for-show'
  | 'unmute'
  | 'unban'
  | 'answered'
  | 'dismissed';

interface ChatMessageRowProps extends MessageStatus {
  readonly message: StoredChatMessage;
  readonly isSkippedByTab: boolean;
  readonly onAction: (message: StoredChatMessage, action: MessageAction) => void;
}

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

const KIND_LABELS = {
  question: 'Question',
  greeting: 'Greeting',
  cheer: 'Cheer',
  purchase: 'Purchase',
} as const;
const RESTRICTION_LABELS = { muted: 'Muted', banned: 'Banned' } as const;
const QUESTION_LABELS = { open: 'In the queue', answered: 'Answered', dismissed: 'Dismissed' };

export function statusLabels(status: MessageStatus): string[] {
  const { isPinned, isHidden, isHiding, restriction, question } = status;
  return [
    isPinned && 'Pinned',
    isHiding && 'Hiding',
    isHidden && 'Hidden',
    restriction && RESTRICTION_LABELS[restriction],
    question && QUESTION_LABELS[question],
  ].filter((label) => typeof label === 'string');
}

/** A chat message with its actions. Memoized: rows render only when their props change. */
export const ChatMessageRow = memo((props: ChatMessageRowProps) => {
  const { message, isHidden, isHiding, isPinned, restriction, question } = props;
  const { isSkippedByTab, onAction } = props;
  const name = message.name || ANONYMOUS_NAME;
  return (
    <div className="flex items-start gap-1 py-0.5 pl-2">
      <div className="grid min-w-0 flex-1 gap-0.5 py-1 *:min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-quiet">
          <bdi className="max-w-full truncate font-semibold">{name}</bdi>
          <time className="tabular-nums" dateTime={new Date(message.at).toISOString()}>
            {TIME.format(message.at)}
          </time>
          {message.kind !== 'message' && (
            <Badge variant={message.kind === 'question' ? 'accent' : 'plain'}>
              {KIND_LABELS[message.kind]}
            </Badge>
          )}
          {isPinned && <Badge variant="good">Pinned</Badge>}
          {isHiding && <Badge variant="bad">Hiding…</Badge>}
          {isHidden && <Badge variant="bad">Hidden</Badge>}
          {restriction && <Badge variant="bad">{RESTRICTION_LABELS[restriction]}</Badge>}
          {question && <Badge>{QUESTION_LABELS[question]}</Badge>}
        </p>
        <p
          dir="auto"
          className={classes('wrap-anywhere', (isHidden || isHiding) && 'text-quiet line-through')}
        >
          {message.text}
        </p>
      </div>
      {!isHidden && (
        <Button
          variant="quiet"
          aria-label={`${isHiding ? 'Undo: show' : 'Hide'} the message from ${name}`}
          excludeFromTabOrder={isSkippedByTab}
          onPress={() => onAction(message, isHiding ? 'undo-hide' : 'hide')}
          icon={isHiding ? <Undo2 /> : <EyeOff />}
        >
          {isHiding && 'Undo'}
        </Button>
      )}
      <Menu
        label={`Actions for ${name}`}
        actions={actionsOf(props)}
        isSkippedByTab={isSkippedByTab}
      />
    </div>
  );
});

type ActionsProps = Omit<ChatMessageRowProps, 'isSkippedByTab'>;

function actionsOf({ message, onAction, ...status }: ActionsProps): MenuAction[] {
  const { isHidden, isHiding, isPinned, restriction, question } = status;
  const entry = (action: MessageAction, text: string, icon: MenuAction['icon']) => ({
    text,
    icon,
    isDangerous: action === 'ban',
    onAction: () => onAction(message, action),
  });
  // A viewer sent the message as a question, or a host queued it as one.
  const isQuestion = message.kind === 'question' || question !== null;
  const mayWrite = restriction === null;
  const viewerEntries = [
    restriction === 'banned' && entry('unban', 'Lift ban', <Undo2 />),
    restriction === 'muted' && entry('unmute', 'Unmute', <MessageSquare />),
    mayWrite && entry('mute', `Mute for ${MUTE_MINUTES} minutes`, <Timer />),
    mayWrite && entry('mute-for-show', 'Mute for the show', <MicOff />),
    restriction !== 'banned' && entry('ban', 'Ban…', <Ban />),
  ];
  return [
    isPinned && entry('pin', 'Unpin', <PinOff />),
    !isPinned && !isHidden && entry('pin', 'Pin above the chat', <Pin />),
    question !== 'open' && !isHidden && entry('queue', 'Add to queue', <ListPlus />),
    question !== 'answered' && isQuestion && entry('answered', 'Mark as answered', <Check />),
    question !== 'dismissed' && isQuestion && entry('dismissed', 'Dismiss', <X />),
    isHiding && entry('undo-hide', 'Undo hiding', <Undo2 />),
    !isHidden && !isHiding && entry('hide', 'Hide', <EyeOff />),
    ...(message.viewer === '' ? [] : viewerEntries),
  ].filter((shown) => shown !== false);
}
