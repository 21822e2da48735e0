import { useState } from 'react';
import type { Snapshot } from '../../sdk/viewer.ts';
import { type ChatItem, itemsOf, newRecord, nextRecord } from './chat-items.ts';

/** What the chat shows, oldest first. */
export function useChatItems(snapshot: Snapshot): readonly ChatItem[] {
  const [record, setRecord] = useState(() => newRecord(snapshot));
  const next = nextRecord(record, snapshot);
  if (next !== record) setRecord(next);
  return itemsOf(next);
}
