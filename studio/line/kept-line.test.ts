import { describe, expect, test } from 'bun:test';
import { MovedTime } from '../../test/support/studio/fake-time.ts';
import { ReconnectingEventStream } from './kept-line.ts';

const STATE_MS = 500;

/** What a line meets when it is opened. */
type Network = 'good' | 'refusing' | 'silent';

/** A line in a time that a test moves, over a network that it makes bad; random() is `chance`. */
function fixture(chance = 0.5) {
  const time = new MovedTime();
  const wakers = new Set<() => void>();
  const openedMs: number[] = [];
  let network: Network = 'good';
  let heardMs: number | null = null;
  let closed = 0;
  const line = new ReconnectingEventStream({
    browser: {
      after: time.after,
      random: () => chance,
      onWake: (then) => {
        wakers.add(then);
        return () => wakers.delete(then);
      },
    },
    open: (heard, ended) => {
      openedMs.push(time.nowMs());
      if (network === 'refusing') time.after(1, ended);
      // Whoever meets silence is not heard later, either.
      let isDead = network !== 'good';
      const tell = () => {
        if (network === 'silent') isDead = true;
        if (isDead) return;
        heardMs = time.nowMs();
        heard();
        time.after(STATE_MS, tell);
      };
      time.after(20, tell);
      return () => {
        isDead = true;
        closed++;
      };
    },
    onLost: () => {
      heardMs = null;
    },
  });
  return {
    line,
    time,
    wakers,
    openedMs,
    closed: () => closed,
    become: (next: Network) => {
      network = next;
    },
    isHeard: () => heardMs !== null,
    wake: () => {
      for (const wake of wakers) wake();
    },
    pass: time.pass,
  };
}

describe('a kept line', () => {
  test('stays the same for as long as it is heard', () => {
    const { line, pass, openedMs, isHeard } = fixture();
    line.start();
    pass(60_000);
    expect([openedMs.length, isHeard()]).toEqual([1, true]);
  });

  test.each(['silent', 'refusing'] as const)(
    '[B-4] is lost within 2 s of an outage, and there again within 2 s after one, however long: %s',
    (outage) => {
      for (const chance of [0, 0.5, 0.999]) {
        for (let outageMs = 2_000; outageMs < 30_000; outageMs += 370) {
          const { line, pass, become, isHeard } = fixture(chance);
          line.start();
          pass(1_000);
          become(outage === 'refusing' ? 'silent' : outage);
          pass(2_000);
          expect(isHeard()).toBe(false);
          become(outage);
          pass(outageMs - 2_000);
          become('good');
          pass(2_000);
          expect([outageMs, isHeard()]).toEqual([outageMs, true]);
        }
      }
    },
  );

  test('is asked for about once a second, and each page at times of its own', () => {
    const [early, late] = [0, 0.9].map((chance) => {
      const { line, pass, become, openedMs } = fixture(chance);
      become('refusing');
      line.start();
      pass(60_000);
      return openedMs.length;
    });
    expect(late).toBeLessThan(70);
    expect(early).toBeLessThan(125);
    expect(early).not.toBe(late);
  });

  test('is looked at soon after a sleep: one that did not get through it is another one within 1 s', () => {
    const { line, pass, become, wake, openedMs, isHeard } = fixture();
    line.start();
    pass(1_000);
    become('silent');
    pass(600);
    become('good');
    wake();
    pass(1_000);
    expect([openedMs.length, isHeard()]).toEqual([2, true]);
  });

  test('is opened anew after a sleep in which it was being opened, and then has all its time', () => {
    const { line, pass, become, wake, openedMs } = fixture();
    become('silent');
    line.start();
    pass(900);
    wake();
    pass(1_400);
    expect(openedMs).toEqual([0, 900]);
  });

  test('stays after a sleep that it got through', () => {
    const { line, pass, wake, openedMs } = fixture();
    line.start();
    pass(1_000);
    wake();
    pass(10_000);
    expect(openedMs).toHaveLength(1);
  });

  test('is opened at once when the network comes back', () => {
    const { line, pass, become, wake, isHeard } = fixture(0.999);
    become('refusing');
    line.start();
    pass(20_000);
    become('good');
    wake();
    pass(100);
    expect(isHeard()).toBe(true);
  });

  test('leaves nothing behind', () => {
    const { line, pass, time, wakers, closed } = fixture();
    const stop = line.start();
    pass(100);
    stop();
    pass(1_000);
    expect([time.waiting, wakers.size, closed()]).toEqual([0, 0, 1]);
  });
});
