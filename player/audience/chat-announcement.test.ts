import { describe, expect, test } from 'bun:test';
import { chatAnnouncement, itemsAfter } from './chat-announcement.ts';
import type { SnapshotMessage } from './chat-items.ts';

const message = (id: string, kind: SnapshotMessage['kind'] = 'message', name = 'Ada') =>
  ({ id, kind, name, text: `text ${id}`, viewer: 'v', at: 0 }) satisfies SnapshotMessage;

describe('the chat announcement', () => {
  test('is null without new messages', () => {
    expect(chatAnnouncement([])).toBeNull();
  });

  test('reads up to three messages, each with its kind', () => {
    const three = [message('1'), message('2', 'question', 'Bo'), message('3', 'greeting', '')];
    expect(chatAnnouncement(three)).toBe('Ada says: text 1 Bo asks: text 2 Someone greets: text 3');
    expect(chatAnnouncement([message('1', 'cheer')])).toBe('Ada cheers: text 1');
    const purchase = { ...message('1', 'purchase'), text: 'bought two mugs' };
    expect(chatAnnouncement([purchase])).toBe('Ada bought two mugs');
  });

  test('is the number of more than three messages, and of the questions among them', () => {
    const four = ['1', '2', '3', '4'].map((id) => message(id));
    expect(chatAnnouncement(four)).toBe('4 new messages in the chat.');
    const withQuestion = chatAnnouncement([...four, message('5', 'question')]);
    expect(withQuestion).toBe('5 new messages in the chat, 1 of them a question.');
  });
});

describe('new messages', () => {
  const messages = [message('1'), message('2'), message('3')];

  test('are those after the last known one', () => {
    expect(itemsAfter(messages, '2')).toEqual([message('3')]);
    expect(itemsAfter(messages, '3')).toEqual([]);
  });

  test('are all when none was known, or the known one is gone', () => {
    expect(itemsAfter(messages, null)).toEqual(messages);
    expect(itemsAfter(messages, '0')).toEqual(messages);
  });
});
