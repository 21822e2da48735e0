import { useState } from 'react';
import type { PinnedLine } from '../../sdk/types.ts';
import { Icon } from '../icon.tsx';

/** Of a line: more is shown when it is asked for. */
const LONG_CHARS = 100;

/** What those who run the show have put above the chat. */
export function Pinned({ line }: { readonly line: PinnedLine }) {
  const [isWhole, setWhole] = useState(false);
  const { name, text } = line;
  const isLong = [...name, ...text].length > LONG_CHARS;
  return (
    <aside className="pinned" aria-label="Pinned">
      <Icon name="pin" />
      <p className={isLong && !isWhole ? 'pinned-text pinned-text--cut' : 'pinned-text'}>
        {name !== '' && <bdi className="chat-name">{name}</bdi>} <bdi>{text}</bdi>
      </p>
      {isLong && (
        <button
          type="button"
          className="pinned-more"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'Less' : 'More'}
          <span className="unseen"> of the pinned line</span>
        </button>
      )}
    </aside>
  );
}
