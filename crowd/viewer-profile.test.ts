import { describe, expect, test } from 'bun:test';
import { intervalStartMs } from '../protocol/interval.ts';
import { sampleQuiz } from '../test/support/crowd/events.ts';
import { seededRandom } from '../test/support/seeded-random.ts';
import { TRIVIA } from './trivia.ts';
import { absenceMs, planAnswer, silenceMs, stayMs, viewerProfileOf } from './viewer-profile.ts';

const NOW_MS = intervalStartMs(6_800_000_000);
const quiz = sampleQuiz({
  created: NOW_MS,
  closeInterval: 6_800_000_040,
  question: TRIVIA[0]?.question ?? '',
  order: [...(TRIVIA[0]?.choices ?? [])],
});

describe('viewer profiles', () => {
  const random = seededRandom(4250);
  const profile = Array.from({ length: 2_000 }, (_, viewer) => viewerProfileOf(viewer, random));
  const plans = profile.map((viewer) => planAnswer(quiz, viewer, NOW_MS, random));

  test('[O-17] viewer profiles use every way to read the feed', () => {
    const share = (reading: string) => profile.filter((each) => each.feedMode === reading).length;
    expect(share('event-stream')).toBe(150);
    expect(share('sealed')).toBe(200);
    expect(share('long-poll')).toBe(1_650);
    expect(profile.filter(({ isPermanent }) => isPermanent)).toEqual(profile.slice(0, 1));
  });

  test('[O-17] viewer profiles plan answers with human delays: most in time, some late, some wrong, some none', () => {
    const made = plans.filter((plan) => plan !== null);
    const late = made.filter(({ delayMs }) => delayMs > quiz.duration).length;
    const right = made.filter(({ choice }) => choice === TRIVIA[0]?.answer).length;
    const quick = made.filter(({ delayMs }) => delayMs < quiz.duration / 2).length;
    expect(made.every(({ delayMs }) => delayMs > 0)).toBe(true);
    expect(made.length / plans.length).toBeWithin(0.9, 0.97);
    expect(late / made.length).toBeWithin(0.02, 0.15);
    expect(quick / made.length).toBeWithin(0.6, 0.95);
    expect(right / made.length).toBeWithin(0.7, 0.99);
    expect(made.every(({ choice }) => quiz.order.includes(choice))).toBe(true);
  });

  test('[O-17] viewer profiles plan repeats of the same and of other answers', () => {
    const again = plans.flatMap((plan) => (plan?.retry ? [plan.retry.choice === plan.choice] : []));
    expect(again.filter((same) => same).length).toBeGreaterThan(50);
    expect(again.filter((same) => !same).length).toBeGreaterThan(20);
  });

  test('viewer profiles have plausible stays, absences and pauses', () => {
    for (const draw of [stayMs, absenceMs, silenceMs]) {
      const draws = Array.from({ length: 1_000 }, () => draw(random));
      expect(draws.every((ms) => Number.isFinite(ms) && ms >= 1_000)).toBe(true);
    }
  });
});
