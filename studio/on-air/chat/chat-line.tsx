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
import type { KeptLine, QuestionState, Restriction } from '../../../protocol/moderation.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { classes } from '../../ui/classes.ts';
import { Menu, type MenuAction } from '../../ui/menu.tsx';
import type { LineKey } from '../shortcuts.ts';
import { MUTE_MINUTES, NAMELESS } from './use-moderation.ts';

/** What became of a line, and of who wrote it. */
export interface LineFacts {
  readonly isHidden: boolean;
  readonly isPinned: boolean;
  /** null: who wrote it may write. */
  readonly restriction: Restriction | null;
  /** null: it is not in the queue of questions. */
  readonly question: QuestionState | null;
}

/** What is done with a line. */
export type LineDeed = LineKey | 'mute-for-show' | 'unmute' | 'unban' | 'answered' | 'dismissed';

interface ChatLineProps extends LineFacts {
  readonly line: KeptLine;
  readonly isSkippedByTab: boolean;
  readonly onDeed: (line: KeptLine, deed: LineDeed) => void;
}

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

const RESTRICTED = { muted: 'Muted', banned: 'Banned' } as const;
const QUEUED = { open: 'In the queue', answered: 'Answered', dismissed: 'Dismissed' } as const;

/** What became of a line, in words. */
export function wordsOfFacts({ isPinned, isHidden, restriction, question }: LineFacts): string[] {
  return [
    isPinned && 'Pinned',
    isHidden && 'Hidden',
    restriction && RESTRICTED[restriction],
    question && QUEUED[question],
  ].filter((word) => typeof word === 'string');
}

/** A line of the chat with what can be done about it. It is made anew only when it is another. */
export const ChatLine = memo((props: ChatLineProps) => {
  const { line, isHidden, isPinned, restriction, question, isSkippedByTab, onDeed } = props;
  const name = line.name || NAMELESS;
  return (
    <div className="flex items-start gap-1 py-0.5 pl-2">
      <div className="grid min-w-0 flex-1 gap-0.5 py-1 *:min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-quiet">
          <span className="max-w-full truncate font-semibold">{name}</span>
          <time className="tabular-nums" dateTime={new Date(line.at).toISOString()}>
            {TIME.format(line.at)}
          </time>
          {line.kind !== 'message' && (
            <Badge look={line.kind === 'question' ? 'accent' : 'plain'}>{line.kind}</Badge>
          )}
          {isPinned && <Badge look="good">Pinned</Badge>}
          {isHidden && <Badge look="bad">Hidden</Badge>}
          {restriction && <Badge look="bad">{RESTRICTED[restriction]}</Badge>}
          {question && <Badge>{QUEUED[question]}</Badge>}
        </p>
        <p className={classes('wrap-anywhere', isHidden && 'text-quiet line-through')}>
          {line.text}
        </p>
      </div>
      {!isHidden && (
        <Button
          look="quiet"
          size="icon"
          aria-label={`Hide what ${name} wrote`}
          excludeFromTabOrder={isSkippedByTab}
          onPress={() => onDeed(line, 'hide')}
        >
          <EyeOff aria-hidden="true" />
        </Button>
      )}
      <Menu
        label={`What to do about ${name}`}
        actions={actionsOf(props)}
        isSkippedByTab={isSkippedByTab}
      />
    </div>
  );
});

type ActionsProps = Omit<ChatLineProps, 'isSkippedByTab'>;

function actionsOf({ line, onDeed, ...facts }: ActionsProps): MenuAction[] {
  const action = (deed: LineDeed, text: string, icon: MenuAction['icon'], isDangerous = false) => ({
    text,
    icon,
    isDangerous,
    onAction: () => onDeed(line, deed),
  });
  const { isHidden, isPinned, restriction, question } = facts;
  return [
    isPinned
      ? action('pin', 'Take it down', <PinOff />)
      : !isHidden && action('pin', 'Pin above the chat', <Pin />),
    question !== 'open' && !isHidden && action('queue', 'Put into the queue', <ListPlus />),
    question !== 'answered' && isAsked(line, question) && action('answered', 'Answered', <Check />),
    question !== 'dismissed' && isAsked(line, question) && action('dismissed', 'Dismiss', <X />),
    !isHidden && action('hide', 'Hide', <EyeOff />),
    ...(line.viewer === '' ? [] : viewerActions(restriction, action)),
  ].filter((each) => each !== false);
}

/** A question of a viewer's, or what somebody has put into the queue. */
function isAsked({ kind }: KeptLine, question: QuestionState | null): boolean {
  return kind === 'question' || question !== null;
}

function viewerActions(
  restriction: Restriction | null,
  action: (
    deed: LineDeed,
    text: string,
    icon: MenuAction['icon'],
    isDangerous?: boolean,
  ) => MenuAction,
): MenuAction[] {
  if (restriction === 'banned') return [action('unban', 'Let them come back', <Undo2 />)];
  return [
    ...(restriction === 'muted'
      ? [action('unmute', 'Let them write again', <MessageSquare />)]
      : [
          action('mute', `Mute for ${MUTE_MINUTES} minutes`, <Timer />),
          action('mute-for-show', 'Mute for the show', <MicOff />),
        ]),
    action('ban', 'Ban …', <Ban />, true),
  ];
}
