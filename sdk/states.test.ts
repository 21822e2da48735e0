import { describe, expect, test } from 'bun:test';
import { type FeedStatus, stateAfter } from './snapshot-store.ts';
import type { ViewerState } from './viewer.ts';

/** The next state for each state and feed status; typed so that a new one of either needs an entry. */
const TABLE: Record<ViewerState, Record<FeedStatus, ViewerState>> = {
  joining: { live: 'live', 'catching-up': 'catching-up', offline: 'offline', ended: 'ended' },
  live: { live: 'live', 'catching-up': 'catching-up', offline: 'offline', ended: 'ended' },
  'catching-up': { live: 'live', 'catching-up': 'catching-up', offline: 'offline', ended: 'ended' },
  offline: { live: 'live', 'catching-up': 'catching-up', offline: 'offline', ended: 'ended' },
  ended: { live: 'ended', 'catching-up': 'ended', offline: 'ended', ended: 'ended' },
};
const STATUSES: FeedStatus[] = ['live', 'catching-up', 'offline', 'ended'];
const STATES: ViewerState[] = ['joining', ...STATUSES];

function after(...statuses: FeedStatus[]): ViewerState {
  return statuses.reduce<ViewerState>(stateAfter, 'joining');
}

describe('the state of a viewer', () => {
  test('changes from each state to the state in the table', () => {
    for (const [state, row] of Object.entries(TABLE)) {
      for (const [status, next] of Object.entries(row)) {
        expect([state, status, stateAfter(state as ViewerState, status as FeedStatus)]).toEqual([
          state,
          status,
          next,
        ]);
      }
    }
  });

  test('is joining until the feed is read', () => {
    expect(after()).toBe('joining');
    expect(after('live')).toBe('live');
    // On a slow network, or after a reload.
    expect(after('catching-up')).toBe('catching-up');
  });

  test('is offline while the feed cannot be read, also before it was ever live', () => {
    expect(after('offline')).toBe('offline');
    expect(after('live', 'offline')).toBe('offline');
    expect(after('live', 'catching-up', 'offline')).toBe('offline');
  });

  test('is catching up after an outage or a sleep, then live', () => {
    expect(after('live', 'offline', 'catching-up')).toBe('catching-up');
    expect(after('live', 'catching-up')).toBe('catching-up');
    expect(after('live', 'catching-up', 'live')).toBe('live');
  });

  test('is ended for good, from every state', () => {
    for (const state of STATES) expect(stateAfter(state, 'ended')).toBe('ended');
    for (const status of STATUSES) expect(after('ended', status)).toBe('ended');
  });

  test('has no unreachable state', () => {
    const reached = STATES.flatMap((state) => STATUSES.map((status) => stateAfter(state, status)));
    // `after()` is the initial state.
    expect([...new Set([after(), ...reached])].sort()).toEqual([...STATES].sort());
  });
});
