import { describe, expect, test } from 'bun:test';
import { MovedTime } from '../../test/support/studio/fake-time.ts';
import { LiveShow, type LiveSource } from './live-show.ts';

/** A browser whose time a test moves, and whose lines it opens and cuts. */
function fixture() {
  const time = new MovedTime();
  const opened: { from: number | null; source: LiveSource; isClosed: boolean }[] = [];
  const show = new LiveShow({
    open: (from) => {
      const line = { from, isClosed: false, source: {} as LiveSource };
      line.source = {
        onState: () => {},
        onInterval: () => {},
        onEnd: () => {},
        close: () => {
          line.isClosed = true;
        },
      };
      opened.push(line);
      return line.source;
    },
    after: time.after,
    random: () => 0.5,
    onWake: () => () => {},
  });
  return {
    show,
    opened,
    time,
    state: () => opened.at(-1)?.source.onState('{"count":1}'),
    interval: (interval: number) =>
      opened.at(-1)?.source.onInterval(JSON.stringify({ interval, events: [] })),
    pass: time.pass,
  };
}

describe('the line to a show', () => {
  test('is there when the state was told, and not before', () => {
    const { show, state, interval } = fixture();
    show.start();
    expect(show.snapshot.isHeard).toBe(false);
    interval(8);
    expect(show.snapshot.isHeard).toBe(false);
    state();
    expect(show.snapshot.isHeard).toBe(true);
  });

  test('[B-4] is lost within 2 s of silence, also when intervals still come', () => {
    const { show, state, interval, pass } = fixture();
    show.start();
    state();
    pass(1_000);
    interval(9);
    pass(900);
    expect(show.snapshot.isHeard).toBe(false);
  });

  test('goes on from the last interval, and is there again', () => {
    const { show, state, interval, pass, opened } = fixture();
    show.start();
    state();
    interval(8);
    pass(1_900);
    expect(opened[0]?.isClosed).toBe(true);
    pass(1_000);
    expect(opened).toHaveLength(2);
    expect(opened[1]?.from).toBe(9);
    state();
    expect(show.snapshot.isHeard).toBe(true);
  });

  test('an error ends it at once', () => {
    const { show, state, opened } = fixture();
    show.start();
    state();
    opened[0]?.source.onEnd();
    expect(show.snapshot.isHeard).toBe(false);
  });

  test('what comes at once is told once', () => {
    const { show, state, interval, pass } = fixture();
    let told = 0;
    show.subscribe(() => told++);
    show.start();
    state();
    for (let at = 0; at < 2_400; at++) interval(at);
    expect(show.snapshot.record.interval).toBe(2_399);
    pass(50);
    expect(told).toBe(1);
    interval(2_400);
    pass(50);
    expect(told).toBe(2);
  });

  test('leaves nothing behind', () => {
    const { show, state, time, opened } = fixture();
    const stop = show.start();
    state();
    stop();
    expect(time.waiting).toBe(0);
    expect(opened[0]?.isClosed).toBe(true);
  });
});
