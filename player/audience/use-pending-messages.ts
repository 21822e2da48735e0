import { useEffect, useState } from 'react';
import type { ChatKind } from '../../sdk/types.ts';
import type { SnapshotMessage } from './chat-items.ts';
import { type PendingMessage, stillPending } from './pending-messages.ts';

/** With a large audience the feed has a sample only, so that a message of this viewer may never come. */
const PENDING_MAX_MS = 30_000;

/** The messages that this viewer sent and that are not on screen yet; `add` adds one. */
export function usePendingMessages(messages: readonly SnapshotMessage[]) {
  const [sent, setSent] = useState<readonly PendingMessage[]>([]);
  const pending = stillPending(sent, messages);
  if (pending !== sent) setSent(pending);

  const oldest = sent.at(0);
  useEffect(() => {
    if (!oldest) return;
    const removeOldest = () => setSent((before) => before.filter((message) => message !== oldest));
    const timer = setTimeout(removeOldest, oldest.sentMs + PENDING_MAX_MS - performance.now());
    return () => clearTimeout(timer);
  }, [oldest]);

  return {
    pending,
    add: (kind: ChatKind, name: string, text: string) => {
      const earlierIds = new Set(messages.map(({ id }) => id));
      const sentMs = performance.now();
      const id = `sent ${sentMs}`;
      setSent((before) => [...before, { id, kind, name, text, earlierIds, sentMs }]);
    },
  };
}
