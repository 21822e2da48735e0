import { useState } from 'react';
import type { PinnedMessage } from '../../sdk/types.ts';
import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';

/** A longer message is cut until the viewer expands it. */
const CUT_CHARS = 100;

/** The message that a moderator has pinned above the chat. */
export function PinnedBanner({ message }: { readonly message: PinnedMessage }) {
  const [isExpanded, setIsExpanded] = useState(false);
  const { name, text } = message;
  const isLong = [...name, ...text].length > CUT_CHARS;
  return (
    <aside className="pinned" aria-label={texts.chat.pinned}>
      <Icon name="pin" />
      <p className={isLong && !isExpanded ? 'pinned-text pinned-text--cut' : 'pinned-text'}>
        {name !== '' && <bdi className="chat-name">{name}</bdi>} <bdi>{text}</bdi>
      </p>
      {isLong && (
        <button
          type="button"
          className="pinned-more"
          aria-expanded={isExpanded}
          onClick={() => setIsExpanded(!isExpanded)}
        >
          {isExpanded ? texts.chat.less : texts.chat.more}
          <span className="unseen"> {texts.chat.ofPinned}</span>
        </button>
      )}
    </aside>
  );
}
