import { describe, expect, test } from 'bun:test';
import type { PinnedLine, StreamChat } from '../../sdk/types.ts';
import { afterEvent, afterLook, UNMODERATED } from './moderation.ts';

const LINE: PinnedLine = { id: 'a', viewer: 'v', name: 'Ada', text: 'Hi', kind: 'message', at: 1 };
const SLOW = { slowModeMs: 10_000, paused: false };
const FREE = { slowModeMs: 0, paused: false };
const CHAT: StreamChat = { slow_mode_ms: 5_000, paused: true, pinned: LINE, hidden: ['z', 'y'] };

const mode = (interval: number, data: object) => ({ type: 'chat-mode', data, interval });
const pin = (interval: number, line: PinnedLine | null) => {
  return { type: 'chat-pinned', data: { line }, interval };
};
const hide = (interval: number, ...ids: string[]) => {
  return { type: 'chat-hidden', data: { ids }, interval };
};

describe('the order of a chat', () => {
  test('[C-13] [C-16] [C-17] is what the events say', () => {
    const told = [mode(10, SLOW), pin(11, LINE), hide(12, 'x', 'y')].reduce(
      afterEvent,
      UNMODERATED,
    );
    expect(told).toEqual({ mode: SLOW, pinned: LINE, hidden: ['x', 'y'], interval: 11 });
    expect(afterEvent(told, pin(13, null)).pinned).toBeNull();
  });

  test('is not what it was, for who goes back in the picture', () => {
    const now = [mode(10, SLOW), mode(90, FREE)].reduce(afterEvent, UNMODERATED);
    expect(afterEvent(now, mode(10, SLOW))).toBe(now);
    expect(afterEvent(now, pin(10, LINE))).toBe(now);
  });

  test('[C-16] has hidden lines for good, also those of what is seen again', () => {
    const now = [mode(90, FREE), hide(10, 'x')].reduce(afterEvent, UNMODERATED);
    expect(now.hidden).toEqual(['x']);
    expect(afterEvent(now, hide(10, 'x'))).toBe(now);
  });

  test('[C-22] is told to who comes late, and to who missed something', () => {
    const late = afterLook(UNMODERATED, CHAT, 1_000);
    expect(late).toMatchObject({ mode: { slowModeMs: 5_000, paused: true }, pinned: LINE });
    expect(late.hidden).toEqual(['y', 'z']);
    // Of the picture, which is behind: it was told before.
    expect(afterEvent(late, mode(900, FREE))).toBe(late);
    expect(afterEvent(late, mode(1_001, FREE)).mode).toEqual(FREE);
    // The service said it a moment before this event.
    expect(afterEvent(late, mode(998, FREE)).mode).toEqual(FREE);
  });

  test('is none of other events', () => {
    const other = { type: 'lights', data: null, interval: 5 };
    expect(afterEvent(UNMODERATED, other)).toBe(UNMODERATED);
  });

  test('keeps no more hidden lines than can be of use', () => {
    let now = UNMODERATED;
    for (let n = 0; n < 1_100; n++) now = afterEvent(now, hide(n, `line ${n}`));
    expect(now.hidden).toHaveLength(1_000);
    expect(now.hidden.at(-1)).toBe('line 1099');
  });
});
