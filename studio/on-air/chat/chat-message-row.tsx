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
import { classes, VIEWER_WORDS } from '../../ui/classes.ts';
import { Menu, type MenuAction } from '../../ui/menu.tsx';
import type { MessageShortcut } from '../shortcuts.ts';
import { texts } from './texts.ts';
import { MUTE_MINUTES } from './use-moderation.ts';

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

export function statusLabels(status: MessageStatus): string[] {
  const { isPinned, isHidden, isHiding, restriction, question } = status;
  return [
    isPinned && texts.message.pinned,
    isHiding && texts.message.hiding,
    isHidden && texts.message.hidden,
    restriction && texts.message.restrictions[restriction],
    question && texts.message.questionStates[question],
  ].filter((label) => typeof label === 'string');
}

/** A chat message with its actions. Memoized: rows render only when their props change. */
export const ChatMessageRow = memo((props: ChatMessageRowProps) => {
  const { message, isHidden, isHiding, isPinned, restriction, question } = props;
  const { isSkippedByTab, onAction } = props;
  const name = message.name || texts.anonymous;
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
              {texts.message.kinds[message.kind]}
            </Badge>
          )}
          {isPinned && <Badge variant="good">{texts.message.pinned}</Badge>}
          {isHiding && <Badge variant="bad">{texts.message.hidingBadge}</Badge>}
          {isHidden && <Badge variant="bad">{texts.message.hidden}</Badge>}
          {restriction && <Badge variant="bad">{texts.message.restrictions[restriction]}</Badge>}
          {question && <Badge>{texts.message.questionStates[question]}</Badge>}
        </p>
        <p
          dir="auto"
          className={classes(VIEWER_WORDS, (isHidden || isHiding) && 'text-quiet line-through')}
        >
          {message.text}
        </p>
      </div>
      {!isHidden && (
        <Button
          variant="quiet"
          aria-label={isHiding ? texts.message.undoHideFrom(name) : texts.message.hideFrom(name)}
          excludeFromTabOrder={isSkippedByTab}
          onPress={() => onAction(message, isHiding ? 'undo-hide' : 'hide')}
          icon={isHiding ? <Undo2 /> : <EyeOff />}
        >
          {isHiding && texts.message.undo}
        </Button>
      )}
      <Menu
        label={texts.message.actionsFor(name)}
        actions={actionsOf(props)}
        isSkippedByTab={isSkippedByTab}
      />
    </div>
  );
});

const { actions } = texts;

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
    restriction === 'banned' && entry('unban', actions.unban, <Undo2 />),
    restriction === 'muted' && entry('unmute', actions.unmute, <MessageSquare />),
    mayWrite && entry('mute', actions.mute(MUTE_MINUTES), <Timer />),
    mayWrite && entry('mute-for-show', actions.muteForShow, <MicOff />),
    restriction !== 'banned' && entry('ban', actions.ban, <Ban />),
  ];
  return [
    isPinned && entry('pin', actions.unpin, <PinOff />),
    !isPinned && !isHidden && entry('pin', actions.pin, <Pin />),
    question !== 'open' && !isHidden && entry('queue', actions.queue, <ListPlus />),
    question !== 'answered' && isQuestion && entry('answered', actions.answered, <Check />),
    question !== 'dismissed' && isQuestion && entry('dismissed', actions.dismissed, <X />),
    isHiding && entry('undo-hide', actions.undoHide, <Undo2 />),
    !isHidden && !isHiding && entry('hide', actions.hide, <EyeOff />),
    ...(message.viewer === '' ? [] : viewerEntries),
  ].filter((shown) => shown !== false);
}
