import { describe, expect, test } from 'bun:test';
import { FakeTime } from '../../test/support/studio/fake-time.ts';
import { ReconnectingEventStream } from './reconnecting-event-stream.ts';

const STATE_MS = 500;

/** What happens to a connection that is opened; open connections fall silent with `silent` only. */
type Network = 'good' | 'refusing' | 'silent';

/** A stream with a fake clock and a network that the test controls. */
function fixture(randomValue = 0.5) {
  const time = new FakeTime();
  const wakers = new Set<() => void>();
  const openedMs: number[] = [];
  let network: Network = 'good';
  let lastEventMs: number | null = null;
  let closedCount = 0;
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
      time.after(20, sendEvent);
      return () => {
        isDead = true;
        closedCount++;
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
    closedCount: () => closedCount,
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

  test('leaves no timer, listener or connection after a stop', () => {
    const { stream, pass, time, wakers, closedCount } = fixture();
    const stop = stream.start();
    pass(100);
    stop();
    pass(1_000);
    expect([time.pendingTimers, wakers.size, closedCount()]).toEqual([0, 0, 1]);
  });
});
