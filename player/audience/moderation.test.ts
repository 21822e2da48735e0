import { describe, expect, test } from 'bun:test';
import type { ChatState, PinnedMessage } from '../../sdk/types.ts';
import { applyChatState, applyEvent, UNMODERATED } from './moderation.ts';

const PINNED: PinnedMessage = {
  id: 'a',
  viewer: 'v',
  name: 'Ada',
  text: 'Hi',
  kind: 'message',
  at: 1,
};
const SLOW = { slowModeMs: 10_000, paused: false };
const FREE = { slowModeMs: 0, paused: false };
const CHAT: ChatState = {
  ...{ slow_mode_ms: 5_000, paused: true, pinned: PINNED },
  ...{ hidden: ['z', 'y'], recent: [] },
};

const modeEvent = (interval: number, data: object) => ({ type: 'chat-mode', data, interval });
const pinEvent = (interval: number, line: PinnedMessage | null) => {
  return { type: 'chat-pinned', data: { line }, interval };
};
const hideEvent = (interval: number, ...ids: string[]) => {
  return { type: 'chat-hidden', data: { ids }, interval };
};

describe('the moderation state', () => {
  test('[C-13] [C-16] [C-17] follows the events', () => {
    const moderation = [modeEvent(10, SLOW), pinEvent(11, PINNED), hideEvent(12, 'x', 'y')].reduce(
      applyEvent,
      UNMODERATED,
    );
    expect(moderation).toEqual({
      mode: SLOW,
      pinned: PINNED,
      hidden: ['x', 'y'],
      modeInterval: 10,
      pinnedInterval: 11,
    });
    expect(applyEvent(moderation, pinEvent(13, null)).pinned).toBeNull();
  });

  test('keeps the current mode and pinned message when the viewer seeks back', () => {
    const current = [modeEvent(10, SLOW), modeEvent(90, FREE)].reduce(applyEvent, UNMODERATED);
    expect(applyEvent(current, modeEvent(10, SLOW))).toBe(current);
    expect(applyEvent(current, pinEvent(10, PINNED))).toBe(current);
  });

  test('[C-16] hides messages by old events too, when the viewer seeks back', () => {
    const current = [modeEvent(90, FREE), hideEvent(10, 'x')].reduce(applyEvent, UNMODERATED);
    expect(current.hidden).toEqual(['x']);
    expect(applyEvent(current, hideEvent(10, 'x'))).toBe(current);
  });

  test('[C-22] follows the chat state of the stream, for late viewers and after missed events', () => {
    const lateViewer = applyChatState(UNMODERATED, CHAT, 1_000);
    expect(lateViewer).toMatchObject({ mode: { slowModeMs: 5_000, paused: true }, pinned: PINNED });
    expect(lateViewer.hidden).toEqual(['y', 'z']);
    // The video is behind: this event is older than the chat state.
    expect(applyEvent(lateViewer, modeEvent(900, FREE))).toBe(lateViewer);
    expect(applyEvent(lateViewer, modeEvent(1_001, FREE)).mode).toEqual(FREE);
    // The service read the state a moment before this event.
    expect(applyEvent(lateViewer, modeEvent(998, FREE)).mode).toEqual(FREE);
  });

  test('keeps what events changed when an older response arrives after them', () => {
    const paused = applyEvent(UNMODERATED, modeEvent(1_000, SLOW));
    // A late viewer got no event about the pinned message.
    expect(applyChatState(paused, CHAT, 1_001)).toMatchObject({ mode: SLOW, pinned: PINNED });
    const unpinned = applyEvent(UNMODERATED, pinEvent(1_000, null));
    expect(applyChatState(unpinned, CHAT, 1_001)).toMatchObject({
      mode: { slowModeMs: 5_000, paused: true },
      pinned: null,
    });
    // Longer ago, the viewer may have missed events.
    expect(applyChatState(unpinned, CHAT, 1_020).pinned).toEqual(PINNED);
  });

  test('ignores other events', () => {
    const other = { type: 'lights', data: null, interval: 5 };
    expect(applyEvent(UNMODERATED, other)).toBe(UNMODERATED);
  });

  test('keeps the newest 1,000 hidden ids', () => {
    let moderation = UNMODERATED;
    for (let n = 0; n < 1_100; n++) moderation = applyEvent(moderation, hideEvent(n, `id ${n}`));
    expect(moderation.hidden).toHaveLength(1_000);
    expect(moderation.hidden.at(-1)).toBe('id 1099');
  });
});
