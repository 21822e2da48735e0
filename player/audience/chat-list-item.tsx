import { memo, useState } from 'react';
import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';
import type { ChatItem } from './chat-items.ts';

interface ChatListItemProps {
  readonly item: ChatItem;
  /** Whether the item appears with an animation; only its first value counts. */
  readonly isAnimated: boolean;
}

/** A chat message; purchases and discounts are cards. */
export const ChatListItem = memo(({ item, isAnimated }: ChatListItemProps) => {
  const [animationClass] = useState(isAnimated ? ' chat-item--appears' : '');
  if (item.kind === 'discount') {
    return (
      <li className={`chat-item chat-item--card chat-item--discount${animationClass}`}>
        <Icon name="discount" />
        <span className="chat-kind">{texts.chat.discounts}</span>
        <span className="chat-text">{texts.chat.discountsUsed(item.count)}</span>
      </li>
    );
  }
  const isCard = item.kind === 'purchase';
  return (
    <li className={`chat-item chat-item--${isCard ? 'card' : item.kind}${animationClass}`}>
      {item.kind !== 'message' && <Icon name={item.kind} />}
      {item.kind !== 'message' && <span className="chat-kind">{texts.chat.kinds[item.kind]}</span>}
      <span className="chat-text">
        {item.name !== '' && <bdi className="chat-name">{item.name}</bdi>} <bdi>{item.text}</bdi>
      </span>
    </li>
  );
});
ChatListItem.displayName = 'ChatListItem';
