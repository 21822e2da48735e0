import { describe, expect, test } from 'bun:test';
import { type Happening, stateAfter } from './states.ts';
import type { ViewerState } from './viewer.ts';

/** Every state and everything that can happen in it: a new one of either does not compile without a place here. */
const TABLE: Record<ViewerState, Record<Happening, ViewerState>> = {
  joining: { live: 'live', 'catching-up': 'catching-up', offline: 'offline', ended: 'ended' },
  live: { live: 'live', 'catching-up': 'catching-up', offline: 'offline', ended: 'ended' },
  'catching-up': { live: 'live', 'catching-up': 'catching-up', offline: 'offline', ended: 'ended' },
  offline: { live: 'live', 'catching-up': 'catching-up', offline: 'offline', ended: 'ended' },
  ended: { live: 'ended', 'catching-up': 'ended', offline: 'ended', ended: 'ended' },
};
const HAPPENINGS: Happening[] = ['live', 'catching-up', 'offline', 'ended'];
const STATES: ViewerState[] = ['joining', ...HAPPENINGS];

function after(...happenings: Happening[]): ViewerState {
  return happenings.reduce<ViewerState>(stateAfter, 'joining');
}

describe('a viewer', () => {
  test('goes from each state where the table says', () => {
    for (const [state, row] of Object.entries(TABLE)) {
      for (const [happening, next] of Object.entries(row)) {
        expect([
          state,
          happening,
          stateAfter(state as ViewerState, happening as Happening),
        ]).toEqual([state, happening, next]);
      }
    }
  });

  test('joins until the feed is read', () => {
    expect(after()).toBe('joining');
    expect(after('live')).toBe('live');
    // Over a slow network, or after a reload.
    expect(after('catching-up')).toBe('catching-up');
  });

  test('is offline while the feed cannot be read, from the beginning too', () => {
    expect(after('offline')).toBe('offline');
    expect(after('live', 'offline')).toBe('offline');
    expect(after('live', 'catching-up', 'offline')).toBe('offline');
  });

  test('catches up with what an outage or a sleep has made it miss', () => {
    expect(after('live', 'offline', 'catching-up')).toBe('catching-up');
    expect(after('live', 'catching-up')).toBe('catching-up');
    expect(after('live', 'catching-up', 'live')).toBe('live');
  });

  test('ends for ever, from every state', () => {
    for (const state of STATES) expect(stateAfter(state, 'ended')).toBe('ended');
    for (const happening of HAPPENINGS) expect(after('ended', happening)).toBe('ended');
  });

  test('knows no state that nothing leads to', () => {
    const reached = STATES.flatMap((state) => HAPPENINGS.map((one) => stateAfter(state, one)));
    // It begins with joining.
    expect([...new Set([after(), ...reached])].sort()).toEqual([...STATES].sort());
  });
});
