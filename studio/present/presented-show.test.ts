import { describe, expect, test } from 'bun:test';
import type { PresenterState } from '../../protocol/presenter.ts';
import { MovedTime } from '../../test/support/studio/fake-time.ts';
import { PresentedShow, type PresentSource } from './presented-show.ts';

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

/** A browser whose time a test moves, and whose lines it speaks on. */
function fixture() {
  const time = new MovedTime();
  const lines: PresentSource[] = [];
  const show = new PresentedShow(
    {
      open: () => {
        const line = { onState() {}, onRefused() {}, onEnd() {}, close() {} };
        lines.push(line);
        return line;
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
    lines,
    line: () => lines.at(-1) as PresentSource,
    hear: () => lines.at(-1)?.onState(JSON.stringify({ ...STATE, now: time.nowMs() })),
    pass: time.pass,
  };
}

describe('a wall', () => {
  test('counts down between two states', () => {
    const { show, hear, pass } = fixture();
    hear();
    pass(300);
    show.tick();
    expect(show.presented.scene).toMatchObject({ remainingMs: 4_700 });
  });

  test('[B-14] shows nothing that is older than 2 s, and goes on by itself', () => {
    const { show, hear, pass, lines } = fixture();
    hear();
    pass(1_400);
    expect(show.presented).toMatchObject({ isSilent: false, state: { count: 3 } });
    pass(400);
    expect(show.presented).toMatchObject({ isSilent: true, state: null, scene: null });
    show.tick();
    expect(show.presented.scene).toBeNull();
    pass(1_000);
    expect(lines).toHaveLength(2);
    hear();
    expect(show.presented).toMatchObject({ isSilent: false, state: { count: 3 } });
  });

  test('says that it may not be here only when it never was', () => {
    const fresh = fixture();
    fresh.line().onRefused(401);
    expect(fresh.show.presented.refusal).toBe(401);
    fresh.hear();
    expect(fresh.show.presented.refusal).toBeNull();
    fresh.line().onRefused(401);
    expect(fresh.show.presented.refusal).toBeNull();
  });

  test('[L-5] asks seldom where it is refused: its failures are those of all at its address', () => {
    const { line, lines, pass } = fixture();
    line().onRefused(401);
    line().onEnd();
    pass(14_000);
    expect(lines).toHaveLength(1);
    pass(9_000);
    expect(lines).toHaveLength(2);
    line().onEnd();
    pass(1_000);
    expect(lines).toHaveLength(3);
  });

  test('hears nothing more of a line that it has given up', () => {
    const { show, hear, pass, lines } = fixture();
    hear();
    pass(1_900);
    pass(1_000);
    lines[0]?.onEnd();
    hear();
    expect(show.presented.isSilent).toBe(false);
  });
});
