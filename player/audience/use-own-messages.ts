import { useEffect, useState } from 'react';
import type { ChatKind } from '../../sdk/types.ts';
import type { SnapshotMessage } from './chat-items.ts';
import { type OwnMessage, pendingMessages } from './own-messages.ts';

/** With a large audience the feed has a sample only, so that an own message may never come. */
const PENDING_MAX_MS = 30_000;

/** The messages of this viewer that are not on screen yet. */
export function useOwnMessages(messages: readonly SnapshotMessage[]) {
  const [sent, setSent] = useState<readonly OwnMessage[]>([]);
  const own = pendingMessages(sent, messages);
  if (own !== sent) setSent(own);

  const oldest = sent.at(0);
  useEffect(() => {
    if (!oldest) return;
    const removeOldest = () => setSent((before) => before.filter((message) => message !== oldest));
    const timer = setTimeout(removeOldest, oldest.sentMs + PENDING_MAX_MS - performance.now());
    return () => clearTimeout(timer);
  }, [oldest]);

  return {
    own,
    add: (kind: ChatKind, name: string, text: string) => {
      const earlierIds = new Set(messages.map(({ id }) => id));
      const sentMs = performance.now();
      const id = `own ${sentMs}`;
      setSent((before) => [...before, { id, kind, name, text, earlierIds, sentMs }]);
    },
  };
}
