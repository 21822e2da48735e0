import { useLayoutEffect, useRef, useState } from 'react';
import { Icon } from '../icon.tsx';
import type { ChatItem } from './chat-items.ts';
import { ChatLine } from './chat-line.tsx';
import { linesAfter } from './news-words.ts';
import type { OwnLine } from './own-lines.ts';
import { useNewestInView } from './use-newest-in-view.ts';

/** Of more lines at once none moves: all that is seen would, all the time. */
const CALM_MAX = 2;

interface ChatLogProps {
  readonly items: readonly ChatItem[];
  /** Whether nobody has hidden it. */
  readonly isShown: (item: ChatItem) => boolean;
  readonly own: readonly OwnLine[];
  /** Instead of lines, while there are none. */
  readonly emptyWords: string;
}

/**
 * The lines, newest below. Who scrolls up reads in peace: what comes meanwhile waits. Screen readers
 * hear of it from `ChatNews`, which does not read out a crowd line by line.
 */
export function ChatLog({ items, isShown, own, emptyWords }: ChatLogProps) {
  const list = useRef<HTMLOListElement>(null);
  const newest = own.at(-1)?.id ?? items.at(-1)?.id;
  const { isAtEnd, onScroll, toEnd } = useNewestInView(list, newest);
  const [{ shown, isCalm }, setShown] = useState({ shown: items, isCalm: false });
  if (isAtEnd && shown !== items) {
    const added = linesAfter(items, shown.at(-1)?.id ?? null).length;
    setShown({ shown: items, isCalm: added <= CALM_MAX });
  }
  const newestOwn = own.at(-1)?.id;
  // Who writes wants to see it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when there is another
  useLayoutEffect(() => {
    if (newestOwn) toEnd();
  }, [newestOwn]);
  const isMore = shown.at(-1)?.id !== items.at(-1)?.id;

  return (
    <div className="chat">
      {!items.some(isShown) && own.length === 0 && <p className="chat-empty">{emptyWords}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <ol className="chat-lines" ref={list} onScroll={onScroll} tabIndex={0} aria-label="Chat">
        {shown.filter(isShown).map((item) => (
          <ChatLine key={item.id} item={item} isMoving={isCalm} />
        ))}
        {own.map(({ id, name, text }) => (
          <li key={id} className="chat-line chat-line--own chat-line--comes">
            <span className="chat-text">
              {name !== '' && <bdi className="chat-name">{name}</bdi>} <bdi>{text}</bdi>
            </span>{' '}
            <span className="chat-sent">Sent, on screen soon</span>
          </li>
        ))}
      </ol>
      {!isAtEnd && (
        <button type="button" className="chat-newest" onClick={toEnd}>
          <Icon name="down" /> {isMore ? 'New lines' : 'Newest'}
        </button>
      )}
    </div>
  );
}
