import { useEffect, useRef, useState } from 'react';
import { chatAnnouncement, itemsAfter } from './chat-announcement.ts';
import type { SnapshotMessage } from './chat-items.ts';

/** The time between two announcements. */
const PERIOD_MS = 8_000;

/** Announces new messages to screen readers. A button that keyboard focus reveals turns it off. */
export function ChatAnnouncer({ messages }: { readonly messages: readonly SnapshotMessage[] }) {
  const [isOn, setIsOn] = useState(true);
  const [announcement, setAnnouncement] = useState('');
  const current = useRef(messages);
  current.current = messages;

  useEffect(() => {
    if (!isOn) return;
    let announcedId = current.current.at(-1)?.id ?? null;
    // The first messages of a viewer who joins are those of before.
    let isJoining = announcedId === null;
    const timer = setInterval(() => {
      const text = isJoining ? null : chatAnnouncement(itemsAfter(current.current, announcedId));
      isJoining = false;
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
        Read new messages aloud
      </button>
      <p className="unseen" role="status">
        {isOn ? announcement : ''}
      </p>
    </>
  );
}
