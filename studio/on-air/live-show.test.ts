import { describe, expect, test } from 'bun:test';
import { FakeTime } from '../../test/support/studio/fake-time.ts';
import { LiveShow, type LiveShowEvents } from './live-show.ts';

/** An environment with a fake clock and connections that the test controls. */
function fixture() {
  const time = new FakeTime();
  let connectedCount = 0;
  const opened: { from: number | null; events: LiveShowEvents; isClosed: boolean }[] = [];
  const show = new LiveShow(
    {
      open: (from, events) => {
        const connection = { from, events, isClosed: false };
        opened.push(connection);
        return () => {
          connection.isClosed = true;
        };
      },
      after: time.after,
      random: () => 0.5,
      onWake: () => () => {},
    },
    () => connectedCount++,
  );
  const stop = show.start();
  return {
    show,
    stop,
    opened,
    time,
    connectedCount: () => connectedCount,
    sendState: () => opened.at(-1)?.events.onState('{"count":1}'),
    sendStateAt: (interval: number) =>
      opened.at(-1)?.events.onState(JSON.stringify({ now: interval * 250 })),
    sendInterval: (interval: number) =>
      opened.at(-1)?.events.onInterval(JSON.stringify({ interval, events: [] })),
    pass: time.advance,
  };
}

describe('LiveShow', () => {
  test('is connected after the first state, not after an interval', () => {
    const { show, sendState, sendInterval } = fixture();
    expect(show.snapshot.isConnected).toBe(false);
    sendInterval(8);
    expect(show.snapshot.isConnected).toBe(false);
    sendState();
    expect(show.snapshot.isConnected).toBe(true);
  });

  test('[B-4] detects a loss within 2 s without a state, even while intervals arrive', () => {
    const { show, sendState, sendInterval, pass } = fixture();
    sendState();
    pass(1_000);
    sendInterval(9);
    pass(900);
    expect(show.snapshot.isConnected).toBe(false);
  });

  test('reconnects from the interval after the last one', () => {
    const { show, sendState, sendInterval, pass, opened } = fixture();
    sendState();
    sendInterval(8);
    pass(1_900);
    expect(opened[0]?.isClosed).toBe(true);
    pass(1_000);
    expect(opened).toHaveLength(2);
    expect(opened[1]?.from).toBe(9);
    sendState();
    expect(show.snapshot.isConnected).toBe(true);
  });

  test('[B-4] begins a new log after a loss of which the service sends a part only', () => {
    const { show, sendState, sendStateAt, sendInterval } = fixture();
    sendState();
    sendInterval(8);
    sendStateAt(9);
    expect(show.snapshot.log.firstInterval).toBe(8);
    show.start();
    sendStateAt(8 + 2_400);
    expect(show.snapshot.log.firstInterval).toBe(8);
    show.start();
    sendStateAt(8 + 2_401);
    expect(show.snapshot.log.firstInterval).toBeNull();
    sendInterval(9);
    sendStateAt(8 + 2_402);
    expect(show.snapshot.log.firstInterval).toBe(9);
  });

  test('[B-4] begins a new log when the first interval of a connection does not follow it', () => {
    const { show, sendState, sendStateAt, sendInterval, opened } = fixture();
    sendState();
    sendInterval(8);
    show.start();
    expect(opened.at(-1)?.from).toBe(9);
    for (let at = 7_200; at < 7_600; at++) sendInterval(at);
    expect(show.snapshot.log).toMatchObject({ firstInterval: 7_200, lastInterval: 7_599 });
    show.start();
    expect(opened.at(-1)?.from).toBe(7_600);
    sendStateAt(9_602);
    sendInterval(7_600);
    expect(show.snapshot.log).toMatchObject({ firstInterval: 7_200, lastInterval: 7_600 });
    // A state may be half a second older than the interval that the service begins with.
    show.start();
    sendStateAt(7_600 + 2_400);
    sendInterval(7_602);
    expect(show.snapshot.log.firstInterval).toBe(7_602);
  });

  test('[B-4] continues the log when the missed intervals arrive before the first state', () => {
    const { show, sendState, sendStateAt, sendInterval } = fixture();
    sendState();
    sendInterval(8);
    show.start();
    sendInterval(9);
    sendStateAt(8 + 2_401);
    expect(show.snapshot.log).toMatchObject({ firstInterval: 8, lastInterval: 9 });
  });

  test('[B-4] takes the intervals of one connection only, the first that sends one', () => {
    const { show, opened, pass } = fixture();
    pass(1_600);
    expect(opened).toHaveLength(2);
    opened[0]?.events.onInterval('{"interval":8,"events":[]}');
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([false, true]);
    pass(1_500);
    expect([opened[2]?.from, show.snapshot.isConnected]).toEqual([9, false]);
    opened[2]?.events.onState('{"count":1}');
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, true, false]);
    expect(show.snapshot.isConnected).toBe(true);
  });

  test('is disconnected at once after an error', () => {
    const { show, sendState, opened } = fixture();
    sendState();
    opened[0]?.events.onClose();
    expect(show.snapshot.isConnected).toBe(false);
  });

  test('[B-5] reports each connection once, and not a short one', () => {
    const { sendState, opened, pass, connectedCount } = fixture();
    /** Sends states for `ms`. */
    const stayConnected = (ms: number) => {
      for (let atMs = 0; atMs < ms; atMs += 500) {
        sendState();
        pass(500);
      }
    };
    const reconnect = () => {
      opened.at(-1)?.events.onClose();
      pass(500);
      sendState();
    };
    stayConnected(10_000);
    expect(connectedCount()).toBe(1);
    reconnect();
    stayConnected(1_000);
    expect(connectedCount()).toBe(1);
    reconnect();
    stayConnected(1_000);
    expect(connectedCount()).toBe(1);
    stayConnected(10_000);
    expect(connectedCount()).toBe(2);
    reconnect();
    stayConnected(10_000);
    expect(connectedCount()).toBe(3);
  });

  test('batches updates that arrive together', () => {
    const { show, sendState, sendInterval, pass } = fixture();
    let notifications = 0;
    show.subscribe(() => notifications++);
    sendState();
    for (let at = 0; at < 2_400; at++) sendInterval(at);
    expect(show.snapshot.log.lastInterval).toBe(2_399);
    pass(50);
    expect(notifications).toBe(1);
    sendInterval(2_400);
    pass(50);
    expect(notifications).toBe(2);
  });

  test('leaves no timer or connection after a stop', () => {
    const { stop, sendState, time, opened, pass } = fixture();
    sendState();
    opened[0]?.events.onClose();
    pass(500);
    sendState();
    stop();
    expect(time.pendingTimers).toBe(0);
    expect(opened.every(({ isClosed }) => isClosed)).toBe(true);
  });
});
