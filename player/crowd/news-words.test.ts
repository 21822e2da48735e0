import { describe, expect, test } from 'bun:test';
import type { Line } from './chat-items.ts';
import { linesAfter, newsOf } from './news-words.ts';

const line = (id: string, kind: Line['kind'] = 'message', name = 'Ada'): Line => {
  return { id, kind, name, text: `text ${id}`, viewer: 'v', at: 0 };
};

describe('what a screen reader says of new lines', () => {
  test('is nothing when there are none', () => {
    expect(newsOf([])).toBeNull();
  });

  test('is each of up to three, with what it is', () => {
    expect(newsOf([line('1'), line('2', 'question', 'Bo'), line('3', 'greeting', '')])).toBe(
      'Ada says: text 1 Bo asks: text 2 Somebody greets: text 3',
    );
    expect(newsOf([line('1', 'cheer')])).toBe('Ada cheers: text 1');
    expect(newsOf([{ ...line('1', 'purchase'), text: 'bought two mugs' }])).toBe(
      'Ada bought two mugs',
    );
  });

  test('is the number of more than three, and how many of them are questions', () => {
    const four = ['1', '2', '3', '4'].map((id) => line(id));
    expect(newsOf(four)).toBe('4 new lines in the chat.');
    expect(newsOf([...four, line('5', 'question')])).toBe(
      '5 new lines in the chat, 1 of them a question.',
    );
  });
});

describe('new lines', () => {
  const lines = [line('1'), line('2'), line('3')];

  test('are those after the one that was the newest', () => {
    expect(linesAfter(lines, '2')).toEqual([line('3')]);
    expect(linesAfter(lines, '3')).toEqual([]);
  });

  test('are all when there was none, or it is gone', () => {
    expect(linesAfter(lines, null)).toEqual(lines);
    expect(linesAfter(lines, '0')).toEqual(lines);
  });
});
