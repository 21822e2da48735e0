import { useLayoutEffect, useRef, useState } from 'react';
import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';
import { itemsAfter } from './chat-announcement.ts';
import type { ChatItem } from './chat-items.ts';
import { ChatListItem } from './chat-list-item.tsx';
import type { PendingMessage } from './pending-messages.ts';
import { useStickToBottom } from './use-stick-to-bottom.ts';

/** When more items come at once, none is animated: in a busy chat everything would move. */
const ANIMATED_MAX = 2;

interface ChatLogProps {
  readonly items: readonly ChatItem[];
  /** Whether no moderator has hidden the item. */
  readonly isVisible: (item: ChatItem) => boolean;
  readonly pending: readonly PendingMessage[];
  /** Shown while there are no messages. */
  readonly emptyText: string;
}

/**
 * The messages, newest at the bottom. While the viewer has scrolled up, new messages are not added.
 * `ChatAnnouncer` announces them to screen readers: it summarizes a busy chat.
 */
export function ChatLog({ items, isVisible, pending, emptyText }: ChatLogProps) {
  const list = useRef<HTMLOListElement>(null);
  const newestId = pending.at(-1)?.id ?? items.at(-1)?.id;
  const { isAtBottom, onScroll, toBottom } = useStickToBottom(list, newestId);
  const [{ shown, isAnimated }, setShown] = useState({ shown: items, isAnimated: false });
  if (isAtBottom && shown !== items) {
    const added = itemsAfter(items, shown.at(-1)?.id ?? null).length;
    setShown({ shown: items, isAnimated: added <= ANIMATED_MAX });
  }
  const newestPendingId = pending.at(-1)?.id;
  // A viewer who sends a message sees it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only for another sent message
  useLayoutEffect(() => {
    if (newestPendingId) toBottom();
  }, [newestPendingId]);
  const hasNew = shown.at(-1)?.id !== items.at(-1)?.id;

  return (
    <div className="chat">
      {!items.some(isVisible) && pending.length === 0 && <p className="chat-empty">{emptyText}</p>}
      <ol
        className="chat-list"
        ref={list}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
        aria-label={texts.chat.label}
      >
        {shown.filter(isVisible).map((item) => (
          <ChatListItem key={item.id} item={item} isAnimated={isAnimated} />
        ))}
        {pending.map(({ id, name, text }) => (
          <li key={id} className="chat-item chat-item--own chat-item--appears">
            <span className="chat-text">
              {name !== '' && <bdi className="chat-name">{name}</bdi>} <bdi>{text}</bdi>
            </span>{' '}
            <span className="chat-sent">{texts.chat.pendingMessage}</span>
          </li>
        ))}
      </ol>
      {!isAtBottom && (
        <button type="button" className="chat-newest" onClick={toBottom}>
          <Icon name="down" /> {hasNew ? texts.chat.newMessages : texts.chat.latest}
        </button>
      )}
    </div>
  );
}
