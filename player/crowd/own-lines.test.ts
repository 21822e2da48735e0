import { describe, expect, test } from 'bun:test';
import type { Line } from './chat-items.ts';
import { notOnScreen, type OwnLine } from './own-lines.ts';

const OWN: OwnLine = {
  id: 'own',
  kind: 'cheer',
  name: 'Ada',
  text: 'Go!',
  before: new Set(['1']),
  writtenMs: 0,
};
const line = (id: string, more: Partial<Line> = {}): Line => {
  return { id, kind: 'cheer', name: 'Ada', text: 'Go!', viewer: 'v', at: 0, ...more };
};

describe('what this viewer wrote', () => {
  test('is shown until it is on screen', () => {
    const own = [OWN];
    expect(notOnScreen(own, [line('2', { text: 'Go on!' })])).toBe(own);
    expect(notOnScreen(own, [line('2')])).toEqual([]);
  });

  test('is not taken for what was there when it was written', () => {
    expect(notOnScreen([OWN], [line('1')])).toEqual([OWN]);
  });

  test('is not taken for what another wrote, nor for another kind', () => {
    expect(notOnScreen([OWN], [line('2', { name: 'Bo' })])).toEqual([OWN]);
    expect(notOnScreen([OWN], [line('2', { kind: 'message' })])).toEqual([OWN]);
  });
});
