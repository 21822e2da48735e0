import { describe, expect, test } from 'bun:test';
import { FakeTime } from '../../test/support/studio/fake-time.ts';
import { ReconnectingEventStream } from './reconnecting-event-stream.ts';

const STATE_MS = 500;

/** What happens to a connection that is opened; open connections fall silent with `silent` only. */
type Network = 'good' | 'refusing' | 'silent';

/**
 * A stream with a fake clock and a network that the test controls.
 * @param openingMs the time from the opening of a connection to its first event
 */
function fixture(randomValue = 0.5, openingMs = 20) {
  const time = new FakeTime();
  const wakers = new Set<() => void>();
  const openedMs: number[] = [];
  let network: Network = 'good';
  let lastEventMs: number | null = null;
  let openCount = 0;
  let openMax = 0;
  const stream = new ReconnectingEventStream({
    environment: {
      after: time.after,
      random: () => randomValue,
      onWake: (then) => {
        wakers.add(then);
        return () => wakers.delete(then);
      },
    },
    open: (received, ended) => {
      openedMs.push(time.nowMs());
      if (network === 'refusing') time.after(1, ended);
      // A connection that was opened during silence stays dead.
      let isDead = network !== 'good';
      const sendEvent = () => {
        if (network === 'silent') isDead = true;
        if (isDead) return;
        lastEventMs = time.nowMs();
        received();
        time.after(STATE_MS, sendEvent);
      };
      time.after(openingMs, sendEvent);
      openCount++;
      openMax = Math.max(openMax, openCount);
      return () => {
        isDead = true;
        openCount--;
      };
    },
    onLost: () => {
      lastEventMs = null;
    },
  });
  return {
    stream,
    time,
    wakers,
    openedMs,
    openCount: () => openCount,
    openMax: () => openMax,
    setNetwork: (next: Network) => {
      network = next;
    },
    isConnected: () => lastEventMs !== null,
    wake: () => {
      for (const wake of wakers) wake();
    },
    pass: time.advance,
  };
}

/** A started stream whose connections do what the test says. */
function manualFixture() {
  const time = new FakeTime();
  const connections: {
    isOpen: boolean;
    readonly received: (isProof?: boolean) => void;
    readonly ended: (isRefused?: boolean) => void;
  }[] = [];
  new ReconnectingEventStream({
    environment: { after: time.after, random: () => 0.5, onWake: () => () => {} },
    open: (received, ended) => {
      const connection = { isOpen: true, received, ended };
      connections.push(connection);
      return () => {
        connection.isOpen = false;
      };
    },
    onLost: () => {},
  }).start();
  return { connections, pass: time.advance };
}

describe('ReconnectingEventStream', () => {
  test('keeps a connection that receives events', () => {
    const { stream, pass, openedMs, isConnected } = fixture();
    stream.start();
    pass(60_000);
    expect([openedMs.length, isConnected()]).toEqual([1, true]);
  });

  test.each(['silent', 'refusing'] as const)(
    '[B-4] detects an outage within 2 s and recovers within 2 s after it, for any length: %s',
    (outage) => {
      for (const randomValue of [0, 0.5, 0.999]) {
        for (let outageMs = 2_000; outageMs < 30_000; outageMs += 370) {
          const { stream, pass, setNetwork, isConnected } = fixture(randomValue);
          stream.start();
          pass(1_000);
          // The open connection falls silent; new ones are refused or stay silent.
          setNetwork('silent');
          pass(2_000);
          expect(isConnected()).toBe(false);
          setNetwork(outage);
          pass(outageMs - 2_000);
          setNetwork('good');
          pass(2_000);
          expect([outageMs, isConnected()]).toEqual([outageMs, true]);
        }
      }
    },
  );

  test.each([1_600, 3_100, 5_900])(
    '[B-4] connects on a link on which the first event takes %i ms, and keeps one connection',
    (openingMs) => {
      const { stream, pass, openedMs, openCount, isConnected } = fixture(0.5, openingMs);
      stream.start();
      pass(openingMs);
      expect([isConnected(), openCount()]).toEqual([true, 1]);
      pass(60_000);
      expect([isConnected(), openedMs.length]).toEqual([true, Math.ceil(openingMs / 1_500)]);
    },
  );

  test('[B-4] opens a connection every 1.5 s during a silent outage, and keeps at most 2', () => {
    const { stream, pass, setNetwork, openedMs, openMax, wake } = fixture();
    setNetwork('silent');
    stream.start();
    pass(60_000);
    expect([openedMs.length, openMax()]).toEqual([41, 2]);
    for (let wakeUps = 0; wakeUps < 10; wakeUps++) wake();
    expect(openMax()).toBe(2);
  });

  test('retries once or twice a second, with jitter', () => {
    const [shortDelays, longDelays] = [0, 0.9].map((randomValue) => {
      const { stream, pass, setNetwork, openedMs } = fixture(randomValue);
      setNetwork('refusing');
      stream.start();
      pass(60_000);
      return openedMs.length;
    });
    expect(longDelays).toBeLessThan(70);
    expect(shortDelays).toBeLessThan(125);
    expect(shortDelays).not.toBe(longDelays);
  });

  test('replaces a connection that did not survive a suspension within 1 s', () => {
    const { stream, pass, setNetwork, wake, openedMs, isConnected } = fixture();
    stream.start();
    pass(1_000);
    setNetwork('silent');
    pass(600);
    setNetwork('good');
    wake();
    pass(1_000);
    expect([openedMs.length, isConnected()]).toEqual([2, true]);
  });

  test('reopens after a suspension during connection setup, with a full timeout', () => {
    const { stream, pass, setNetwork, wake, openedMs } = fixture();
    setNetwork('silent');
    stream.start();
    pass(900);
    wake();
    pass(1_400);
    expect(openedMs).toEqual([0, 900]);
  });

  test('keeps a connection that survived a suspension', () => {
    const { stream, pass, wake, openedMs } = fixture();
    stream.start();
    pass(1_000);
    wake();
    pass(10_000);
    expect(openedMs).toHaveLength(1);
  });

  test('reconnects at once when the network returns', () => {
    const { stream, pass, setNetwork, wake, isConnected } = fixture(0.999);
    setNetwork('refusing');
    stream.start();
    pass(20_000);
    setNetwork('good');
    wake();
    pass(100);
    expect(isConnected()).toBe(true);
  });

  test('[B-4] an event that is no proof closes the other connections, and the timeout goes on', () => {
    const { connections, pass } = manualFixture();
    const opened = () => connections.map(({ isOpen }) => isOpen);
    pass(2_000);
    expect(opened()).toEqual([true, true]);
    connections[0]?.received(false);
    expect(opened()).toEqual([true, false]);
    connections[1]?.received();
    pass(1_000);
    expect(opened()).toEqual([true, false, true]);
    connections[2]?.received();
    expect(opened()).toEqual([false, false, true]);
  });

  test('[B-4] one connection may open for 6 s beside the newest, then the newest may', () => {
    const { connections, pass } = manualFixture();
    const open = () => connections.flatMap(({ isOpen }, number) => (isOpen ? [number] : []));
    const openAfter = [1_600, 1_500, 1_500, 1_500, 1_500].map((ms) => {
      pass(ms);
      return open();
    });
    expect(openAfter).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
      [3, 4],
      [3, 5],
    ]);
  });

  test('[B-4] the end of an older connection changes nothing, that of the newest opens one', () => {
    const { connections, pass } = manualFixture();
    pass(1_600);
    connections[0]?.ended();
    pass(1_300);
    expect(connections).toHaveLength(2);
    pass(200);
    connections[2]?.ended();
    pass(250);
    expect(connections.map(({ isOpen }) => isOpen)).toEqual([false, true, false, true]);
  });

  test('[L-5] a refusal of any connection closes all, and the next one comes after a pause', () => {
    const { connections, pass } = manualFixture();
    pass(1_600);
    connections[0]?.ended(true);
    expect(connections.map(({ isOpen }) => isOpen)).toEqual([false, false]);
    pass(22_000);
    expect(connections).toHaveLength(2);
    pass(1_000);
    expect(connections).toHaveLength(3);
  });

  test('leaves no timer, listener or connection after a stop', () => {
    const { stream, pass, time, wakers, openCount } = fixture(0.5, 5_000);
    const stop = stream.start();
    pass(4_000);
    expect(openCount()).toBe(2);
    stop();
    pass(10_000);
    expect([time.pendingTimers, wakers.size, openCount()]).toEqual([0, 0, 0]);
  });
});
