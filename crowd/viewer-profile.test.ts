import { describe, expect, test } from 'bun:test';
import { intervalStartMs } from '../protocol/interval.ts';
import { sampleQuiz } from '../test/support/crowd/events.ts';
import { seededRandom } from '../test/support/seeded-random.ts';
import { TRIVIA } from './trivia.ts';
import { absenceMs, chatPauseMs, planAnswer, stayMs, viewerProfileOf } from './viewer-profile.ts';

const NOW_MS = intervalStartMs(6_800_000_000);
const quiz = sampleQuiz({
  created: NOW_MS,
  closeInterval: 6_800_000_040,
  question: TRIVIA[0]?.question ?? '',
  order: [...(TRIVIA[0]?.choices ?? [])],
});

describe('viewer profiles', () => {
  const random = seededRandom(4250);
  const profiles = Array.from({ length: 2_000 }, (_, viewer) => viewerProfileOf(viewer, random));
  const plans = profiles.map((viewer) => planAnswer(quiz, viewer, NOW_MS, random));

  test('[O-17] viewer profiles use every way to read the feed', () => {
    const countOf = (mode: string) => profiles.filter((each) => each.feedMode === mode).length;
    expect(countOf('event-stream')).toBe(150);
    expect(countOf('sealed')).toBe(200);
    expect(countOf('long-poll')).toBe(1_650);
    expect(profiles.filter(({ isPermanent }) => isPermanent)).toEqual(profiles.slice(0, 1));
  });

  test('[O-17] viewer profiles plan answers with human delays: most in time, some late, some wrong, some skipped', () => {
    const answerPlans = plans.filter((plan) => plan !== null);
    const late = answerPlans.filter(({ delayMs }) => delayMs > quiz.duration).length;
    const right = answerPlans.filter(({ choice }) => choice === TRIVIA[0]?.answer).length;
    const quick = answerPlans.filter(({ delayMs }) => delayMs < quiz.duration / 2).length;
    expect(answerPlans.every(({ delayMs }) => delayMs > 0)).toBe(true);
    expect(answerPlans.length / plans.length).toBeWithin(0.9, 0.97);
    expect(late / answerPlans.length).toBeWithin(0.02, 0.15);
    expect(quick / answerPlans.length).toBeWithin(0.6, 0.95);
    expect(right / answerPlans.length).toBeWithin(0.7, 0.99);
    expect(answerPlans.every(({ choice }) => quiz.order.includes(choice))).toBe(true);
  });

  test('[O-17] viewer profiles plan some second attempts with the same choice and some with another', () => {
    const again = plans.flatMap((plan) => (plan?.retry ? [plan.retry.choice === plan.choice] : []));
    expect(again.filter((isSame) => isSame).length).toBeGreaterThan(50);
    expect(again.filter((isSame) => !isSame).length).toBeGreaterThan(20);
  });

  test('stays, absences and chat pauses are finite and last at least one second', () => {
    for (const draw of [stayMs, absenceMs, chatPauseMs]) {
      const draws = Array.from({ length: 1_000 }, () => draw(random));
      expect(draws.every((ms) => Number.isFinite(ms) && ms >= 1_000)).toBe(true);
    }
  });
});
