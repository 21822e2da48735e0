import { memo } from 'react';
import { Icon } from '../icon.tsx';
import type { ChatItem } from './chat-items.ts';

const TITLES = { question: 'Question', greeting: 'Greeting', cheer: 'Cheer', purchase: 'Purchase' };

/** A line of the chat; purchases and discounts are cards. */
export const ChatLine = memo(({ item }: { readonly item: ChatItem }) => {
  if (item.kind === 'discount') {
    return (
      <li className="chat-line chat-line--card chat-line--discount">
        <Icon name="discount" />
        <span className="chat-kind">Discounts</span>
        <span className="chat-text">
          {item.count === 1 ? 'One discount' : `${item.count} discounts`} just now
        </span>
      </li>
    );
  }
  const isCard = item.kind === 'purchase';
  return (
    <li className={`chat-line chat-line--${isCard ? 'card' : item.kind}`}>
      {item.kind !== 'message' && <Icon name={item.kind} />}
      {item.kind !== 'message' && <span className="chat-kind">{TITLES[item.kind]}</span>}
      <span className="chat-text">
        {item.name !== '' && <b className="chat-name">{item.name}</b>} {item.text}
      </span>
    </li>
  );
});
ChatLine.displayName = 'ChatLine';
