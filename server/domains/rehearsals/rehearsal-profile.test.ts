import { expect, test } from 'bun:test';
import { planAnswer } from '../../../crowd/viewer-profile.ts';
import { intervalStartMs } from '../../../protocol/interval.ts';
import type { Quiz } from '../../../protocol/quizzes.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { rehearsalProfileOf } from './rehearsal-profile.ts';

const NOW_MS = intervalStartMs(6_800_000_000);
const DURATION_MS = 10_000;
const quiz: Quiz = {
  id: 'quiz',
  streamId: 'stream',
  created: NOW_MS,
  duration: DURATION_MS,
  closeInterval: 6_800_000_040,
  question: 'Which?',
  choices: {},
  order: ['This', 'That'],
};
const calm = { viewers: 200, latencyMs: 0, lossShare: 0, botShare: 0, lateShare: 0 };

function crowdOf(settings: Partial<typeof calm>) {
  const random = seededRandom(4250);
  const profile = Array.from({ length: calm.viewers }, (_, viewer) =>
    rehearsalProfileOf({ ...calm, ...settings }, viewer, random),
  );
  const plans = profile.map((each) => planAnswer(quiz, each, NOW_MS, random));
  return { profile, delays: plans.flatMap((plan) => (plan ? [plan.delayMs] : [])) };
}

test('[Y-5] viewers lag by half to one and a half of the latency', () => {
  const lags = crowdOf({ latencyMs: 2_000 }).profile.map(({ lagMs }) => lagMs);
  expect(Math.min(...lags)).toBeWithin(1_000, 1_200);
  expect(Math.max(...lags)).toBeWithin(2_800, 3_000);
  expect(crowdOf({}).profile.every(({ lagMs }) => lagMs === 0)).toBe(true);
});

test('[Y-5] the configured share are bots, which answer after 50 to 300 ms', () => {
  const { profile } = crowdOf({ botShare: 0.25 });
  expect(profile.filter(({ isBot }) => isBot)).toHaveLength(50);
  const { delays } = crowdOf({ botShare: 1 });
  expect(delays).toHaveLength(calm.viewers);
  expect(delays.every((ms) => ms >= 50 && ms <= 300)).toBe(true);
});

test('[Y-5] the configured share of answers is sent after the close', () => {
  expect(crowdOf({ lateShare: 1 }).delays.every((ms) => ms > DURATION_MS)).toBe(true);
  const late = crowdOf({ lateShare: 0.5, botShare: 1 }).delays;
  expect(late.filter((ms) => ms > DURATION_MS).length / late.length).toBeWithin(0.4, 0.6);
});
