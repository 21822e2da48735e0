import { describe, expect, test } from 'bun:test';
import type { PresenterState } from '../../protocol/presenter.ts';
import { FakeTime } from '../../test/support/studio/fake-time.ts';
import { type DisplayEvents, DisplayShow } from './display-show.ts';

const STATE: PresenterState = {
  now: 0,
  stream: { id: 'a', title: 'Quiz night', status: 'STREAMING' },
  count: 3,
  quiz: {
    id: 'q',
    question: 'Which planet is the largest?',
    order: ['Mars', 'Jupiter'],
    state: 'open',
    created: 0,
    duration: 5_000,
    closeInterval: 20,
    answered: 0,
    tally: {},
    results: null,
  },
  winners: null,
};

/** An environment with a fake clock and connections that the test controls. */
function fixture() {
  const time = new FakeTime();
  const connections: DisplayEvents[] = [];
  const show = new DisplayShow(
    {
      open: (events) => {
        connections.push(events);
        return () => {};
      },
      after: time.after,
      random: () => 0.5,
      onWake: () => () => {},
      monotonicMs: time.nowMs,
    },
    null,
  );
  show.start();
  return {
    show,
    connections,
    connection: () => connections.at(-1) as DisplayEvents,
    sendState: () => connections.at(-1)?.onState(JSON.stringify({ ...STATE, now: time.nowMs() })),
    pass: time.advance,
  };
}

describe('DisplayShow', () => {
  test('counts down between states', () => {
    const { show, sendState, pass } = fixture();
    sendState();
    pass(300);
    show.tick();
    expect(show.snapshot.scene).toMatchObject({ remainingMs: 4_700 });
  });

  test('[B-14] hides data older than 2 s and recovers by itself', () => {
    const { show, sendState, pass, connections } = fixture();
    sendState();
    pass(1_400);
    expect(show.snapshot).toMatchObject({ isStale: false, state: { count: 3 } });
    pass(400);
    expect(show.snapshot).toMatchObject({ isStale: true, state: null, scene: null });
    show.tick();
    expect(show.snapshot.scene).toBeNull();
    pass(1_000);
    expect(connections).toHaveLength(2);
    sendState();
    expect(show.snapshot).toMatchObject({ isStale: false, state: { count: 3 } });
  });

  test('reports a refusal only before the first state', () => {
    const fresh = fixture();
    fresh.connection().onRefused(401);
    expect(fresh.show.snapshot.refusal).toBe(401);
    fresh.sendState();
    expect(fresh.show.snapshot.refusal).toBeNull();
    fresh.connection().onRefused(401);
    expect(fresh.show.snapshot.refusal).toBeNull();
  });

  test('[L-5] retries seldom after a refusal, which counts for the IP address', () => {
    const { connection, connections, pass } = fixture();
    connection().onRefused(401);
    connection().onClose();
    pass(14_000);
    expect(connections).toHaveLength(1);
    pass(9_000);
    expect(connections).toHaveLength(2);
    connection().onClose();
    pass(1_000);
    expect(connections).toHaveLength(3);
  });

  test('ignores events of an abandoned connection', () => {
    const { show, sendState, pass, connections } = fixture();
    sendState();
    pass(1_900);
    pass(1_000);
    connections[0]?.onClose();
    sendState();
    expect(show.snapshot.isStale).toBe(false);
  });
});
