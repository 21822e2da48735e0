import { memo, useState } from 'react';
import { Icon } from '../icon.tsx';
import type { ChatItem } from './chat-items.ts';

const TITLES = { question: 'Question', greeting: 'Greeting', cheer: 'Cheer', purchase: 'Purchase' };

interface ChatLineProps {
  readonly item: ChatItem;
  /** Whether it moves to its place: looked at when it comes. */
  readonly isMoving: boolean;
}

/** A line of the chat; purchases and discounts are cards. */
export const ChatLine = memo(({ item, isMoving }: ChatLineProps) => {
  const [moves] = useState(isMoving ? ' chat-line--comes' : '');
  if (item.kind === 'discount') {
    return (
      <li className={`chat-line chat-line--card chat-line--discount${moves}`}>
        <Icon name="discount" />
        <span className="chat-kind">Discounts</span>
        <span className="chat-text">
          {item.count === 1 ? 'One was taken' : `${item.count} were taken`}
        </span>
      </li>
    );
  }
  const isCard = item.kind === 'purchase';
  return (
    <li className={`chat-line chat-line--${isCard ? 'card' : item.kind}${moves}`}>
      {item.kind !== 'message' && <Icon name={item.kind} />}
      {item.kind !== 'message' && <span className="chat-kind">{TITLES[item.kind]}</span>}
      <span className="chat-text">
        {item.name !== '' && <bdi className="chat-name">{item.name}</bdi>} <bdi>{item.text}</bdi>
      </span>
    </li>
  );
});
ChatLine.displayName = 'ChatLine';
