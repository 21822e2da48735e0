import { describe, expect, test } from 'bun:test';
import { type Cue, type CueMoment, cueOf } from './cues.ts';

const NOTHING: CueMoment = { quizId: null, remainingS: 0, hasWinners: false };
const WINNERS: CueMoment = { ...NOTHING, hasWinners: true };
const quiz = (remainingS: number, quizId = 'q1'): CueMoment => ({ ...NOTHING, quizId, remainingS });

/** The sounds of moments that follow each other. */
function cuesOf(...moments: readonly CueMoment[]): (Cue | null)[] {
  return moments.slice(1).map((after, index) => cueOf(moments[index] ?? null, after));
}

describe('[B-18] sounds of a quiz', () => {
  test('a quiz has a sound when it opens, for each of its last three seconds and when it closes', () => {
    const seconds = [6, 5, 4, 3, 2, 1, 0].map((remainingS) => quiz(remainingS));
    expect(cuesOf(NOTHING, ...seconds)).toEqual([
      'opened',
      ...[null, null],
      ...['second', 'second', 'second', 'closed'],
    ] as (Cue | null)[]);
  });

  test('a moment that repeats has no sound', () => {
    expect(cuesOf(quiz(3), quiz(3), quiz(0), quiz(0), WINNERS, WINNERS)).toEqual([
      ...[null, 'closed'],
      ...[null, 'winners', null],
    ] as (Cue | null)[]);
  });

  test('a page that was loaded during a quiz starts silently', () => {
    expect(cueOf(null, quiz(2))).toBeNull();
    expect(cueOf(null, WINNERS)).toBeNull();
  });

  test('a page that was busy has one sound for the seconds that it missed', () => {
    expect(cuesOf(quiz(8), quiz(2), quiz(0))).toEqual(['second', 'closed']);
  });

  test('a viewer who goes back to a quiz, or comes when it is closed, gets no sound of it', () => {
    expect(cuesOf(quiz(0), quiz(5))).toEqual([null]);
    expect(cuesOf(NOTHING, quiz(0))).toEqual([null]);
    expect(cuesOf(WINNERS, quiz(0))).toEqual([null]);
  });

  test('the next quiz has its own sound', () => {
    expect(cuesOf(quiz(0), quiz(9, 'q2'))).toEqual(['opened']);
  });
});
