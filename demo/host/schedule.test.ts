import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { TRIVIA } from '../../crowd/trivia.ts';
import { cuesOf, QUIZ_EVERY_MIN_MS } from './schedule.ts';

const paces = fc.integer({ min: QUIZ_EVERY_MIN_MS, max: 120_000 });
const numbers = fc.nat({ max: 500 });

describe('cuesOf', () => {
  test('[O-17] cuesOf asks a quiz each period, with each question in turn', () => {
    fc.assert(
      fc.property(numbers, paces, (number, quizEveryMs) => {
        const [first] = cuesOf(number, quizEveryMs);
        expect(first?.atMs).toBe(number * quizEveryMs);
        expect(first?.cue).toMatchObject({ kind: 'ask', trivia: TRIVIA[number % TRIVIA.length] });
      }),
    );
  });

  test('[O-17] cuesOf requests winners after each third quiz, once its results are out', () => {
    fc.assert(
      fc.property(numbers, paces, (number, quizEveryMs) => {
        const cues = cuesOf(number, quizEveryMs);
        const winners = cues.find(({ cue }) => cue.kind === 'request-winners');
        expect(winners !== undefined).toBe(number % 3 === 2);
        const askCue = cues[0];
        if (!winners || askCue?.cue.kind !== 'ask') return;
        const closeMs = askCue.atMs + askCue.cue.durationMs;
        expect(winners.atMs - closeMs).toBeGreaterThanOrEqual(0.25 * quizEveryMs - 2);
        expect(winners.atMs).toBeLessThan((number + 1) * quizEveryMs);
        const reveal = cues.find(({ cue }) => cue.kind === 'reveal');
        if (reveal) expect(reveal.atMs).toBeWithin(closeMs, winners.atMs);
      }),
    );
  });

  test('[Q-18] cuesOf reveals some quizzes manually, after their close', () => {
    for (let number = 0; number < 12; number++) {
      const cues = cuesOf(number, 20_000);
      const reveal = cues.find(({ cue }) => cue.kind === 'reveal');
      const askCue = cues[0]?.cue;
      expect(askCue?.kind === 'ask' && askCue.reveal).toBe(reveal ? 'manual' : 'auto');
    }
    expect(cuesOf(3, 20_000).some(({ cue }) => cue.kind === 'reveal')).toBe(true);
  });

  test('[P-23] cuesOf sends purchases, discounts and custom events in between', () => {
    const types = Array.from({ length: 3 }, (_, number) => cuesOf(number, 20_000)[1]?.cue);
    expect(types.map((cue) => cue?.kind === 'event' && cue.type)).toEqual([
      'purchase',
      'discount',
      'caption',
    ]);
  });

  test('cuesOf has cues in order of time', () => {
    const all = Array.from({ length: 30 }, (_, number) => cuesOf(number, 4_000)).flat();
    const times = all.map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });
});
