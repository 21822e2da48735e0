import { describe, expect, test } from 'bun:test';
import type { SnapshotMessage } from './chat-items.ts';
import { type PendingMessage, stillPending } from './pending-messages.ts';

const SENT: PendingMessage = {
  id: 'sent',
  kind: 'cheer',
  name: 'Ada',
  text: 'Go!',
  earlierIds: new Set(['1']),
  sentMs: 0,
};
const message = (id: string, fields: Partial<SnapshotMessage> = {}): SnapshotMessage => {
  return { id, kind: 'cheer', name: 'Ada', text: 'Go!', viewer: 'v', at: 0, ...fields };
};

describe('a sent message', () => {
  test('is pending until it is on screen', () => {
    const pending = [SENT];
    expect(stillPending(pending, [message('2', { text: 'Go on!' })])).toBe(pending);
    expect(stillPending(pending, [message('2')])).toEqual([]);
  });

  test('does not match an equal message that was on screen before', () => {
    expect(stillPending([SENT], [message('1')])).toEqual([SENT]);
  });

  test('does not match a message with another name or kind', () => {
    expect(stillPending([SENT], [message('2', { name: 'Bo' })])).toEqual([SENT]);
    expect(stillPending([SENT], [message('2', { kind: 'message' })])).toEqual([SENT]);
  });
});
