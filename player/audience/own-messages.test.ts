import { describe, expect, test } from 'bun:test';
import type { SnapshotMessage } from './chat-items.ts';
import { type OwnMessage, pendingMessages } from './own-messages.ts';

const OWN: OwnMessage = {
  id: 'own',
  kind: 'cheer',
  name: 'Ada',
  text: 'Go!',
  earlierIds: new Set(['1']),
  sentMs: 0,
};
const message = (id: string, fields: Partial<SnapshotMessage> = {}): SnapshotMessage => {
  return { id, kind: 'cheer', name: 'Ada', text: 'Go!', viewer: 'v', at: 0, ...fields };
};

describe('an own message', () => {
  test('is pending until it is on screen', () => {
    const own = [OWN];
    expect(pendingMessages(own, [message('2', { text: 'Go on!' })])).toBe(own);
    expect(pendingMessages(own, [message('2')])).toEqual([]);
  });

  test('does not match an equal message that was on screen before', () => {
    expect(pendingMessages([OWN], [message('1')])).toEqual([OWN]);
  });

  test('does not match a message with another name or kind', () => {
    expect(pendingMessages([OWN], [message('2', { name: 'Bo' })])).toEqual([OWN]);
    expect(pendingMessages([OWN], [message('2', { kind: 'message' })])).toEqual([OWN]);
  });
});
