import { type KeyboardEvent, type ReactNode, type Ref, useCallback } from 'react';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import { Feed } from '../../ui/feed.tsx';
import { type MessageShortcut, messageShortcutOf } from '../shortcuts.ts';
import {
  ChatMessageRow,
  type MessageAction,
  type MessageStatus,
  statusLabels,
} from './chat-message-row.tsx';
import { texts } from './texts.ts';

export interface ListedMessage extends StoredChatMessage {
  /** Whether the message was already hidden when it was loaded. */
  readonly hidden?: boolean;
}

/** How to act on messages, and their status. */
export interface MessageHandlers {
  readonly onAction: (message: StoredChatMessage, action: MessageAction) => void;
  readonly statusOf: (message: ListedMessage) => MessageStatus;
}

interface MessageFeedProps {
  readonly label: string;
  readonly messages: readonly ListedMessage[];
  readonly handlers: MessageHandlers;
  readonly hasMore?: boolean;
  readonly onNearEnd?: () => void;
  readonly end?: ReactNode;
  readonly containerRef?: Ref<HTMLDivElement>;
}

/** A feed of chat messages with their actions and keyboard shortcuts. */
export function MessageFeed({ messages, handlers, ...rest }: MessageFeedProps) {
  const { onAction, statusOf } = handlers;
  const onItemKey = useCallback(
    (message: ListedMessage, event: KeyboardEvent) => {
      const action =
        event.ctrlKey || event.metaKey || event.altKey ? null : messageShortcutOf(event.key);
      if (action === null || event.repeat) return;
      if (isRedundant(action, statusOf(message))) return;
      onAction(message, action === 'hide' && statusOf(message).isHiding ? 'undo-hide' : action);
    },
    [onAction, statusOf],
  );
  const labelOf = useCallback(
    (message: ListedMessage) => {
      const { name, text } = message;
      return [
        texts.message.label(name || texts.anonymous, text),
        ...statusLabels(statusOf(message)),
      ].join(', ');
    },
    [statusOf],
  );
  return (
    <Feed {...rest} items={messages} keyOf={idOf} labelOf={labelOf} onItemKey={onItemKey}>
      {(message, isCurrent) => (
        <ChatMessageRow
          message={message}
          {...statusOf(message)}
          isSkippedByTab={!isCurrent}
          onAction={onAction}
        />
      )}
    </Feed>
  );
}

function idOf({ id }: ListedMessage): string {
  return id;
}

/** Whether the action would change nothing or weaken a restriction. */
function isRedundant(action: MessageShortcut, status: MessageStatus): boolean {
  const redundant: Record<MessageShortcut, boolean> = {
    hide: status.isHidden,
    mute: status.restriction !== null,
    ban: status.restriction === 'banned',
    queue: status.question === 'open',
    pin: false,
  };
  return redundant[action];
}
