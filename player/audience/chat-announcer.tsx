import { useEffect, useRef, useState } from 'react';
import { texts } from '../texts.ts';
import { chatAnnouncement, itemsAfter } from './chat-announcement.ts';
import type { SnapshotMessage } from './chat-items.ts';

/** The time between two announcements. */
const PERIOD_MS = 8_000;

interface ChatAnnouncerProps {
  readonly messages: readonly SnapshotMessage[];
  /** Messages from before the viewer joined, or of a gap: they are not announced. */
  readonly earlier: readonly { readonly id: string }[];
}

/** Announces new messages to screen readers. A button that keyboard focus reveals turns it off. */
export function ChatAnnouncer({ messages, earlier }: ChatAnnouncerProps) {
  const [isOn, setIsOn] = useState(true);
  const [announcement, setAnnouncement] = useState('');
  const current = useRef(messages);
  current.current = messages;
  // A later reading of the stream no longer has them.
  const earlierIds = useRef(new Set<string>());
  for (const { id } of earlier) earlierIds.current.add(id);

  useEffect(() => {
    if (!isOn) return;
    let announcedId = current.current.at(-1)?.id ?? null;
    const timer = setInterval(() => {
      const later = itemsAfter(current.current, announcedId);
      const text = chatAnnouncement(later.filter(({ id }) => !earlierIds.current.has(id)));
      announcedId = current.current.at(-1)?.id ?? null;
      if (text) setAnnouncement(text);
    }, PERIOD_MS);
    return () => clearInterval(timer);
  }, [isOn]);

  return (
    <>
      <button
        type="button"
        className="unseen chat-announcer"
        aria-pressed={isOn}
        onClick={() => setIsOn(!isOn)}
      >
        {texts.chat.readAloud}
      </button>
      <p className="unseen" role="status">
        {isOn ? announcement : ''}
      </p>
    </>
  );
}
