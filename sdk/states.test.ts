import { describe, expect, test } from 'bun:test';
import { type Happening, STATES } from './states.ts';
import type { ViewerState } from './viewer.ts';

const HAPPENINGS: Happening[] = ['live', 'catching-up', 'offline', 'ended'];
const STATES_OF_VIEWERS = Object.keys(STATES) as ViewerState[];

function after(...happenings: Happening[]): ViewerState {
  return happenings.reduce<ViewerState>((state, one) => STATES[state](one), 'joining');
}

describe('a viewer', () => {
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
    for (const state of STATES_OF_VIEWERS) expect(STATES[state]('ended')).toBe('ended');
    expect(new Set(HAPPENINGS.map(STATES.ended))).toEqual(new Set(['ended']));
  });

  test('knows no state that nothing leads to', () => {
    const reached = STATES_OF_VIEWERS.flatMap((state) => HAPPENINGS.map(STATES[state]));
    // It begins with joining.
    expect([...new Set([after(), ...reached])].sort()).toEqual([...STATES_OF_VIEWERS].sort());
  });
});
