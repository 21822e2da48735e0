import { intervalAt } from '../../protocol/interval.ts';
import { type MockService, mockService } from '../mock/mock-service.ts';
import { Guest, type GuestOptions } from './guest.ts';
import {
  MARK,
  type Mark,
  wrongAfterLeaving,
  wrongAtTheEnd,
  wrongInAnswers,
  wrongInFeed,
  wrongInHeartbeats,
  wrongInTokens,
} from './judgement.ts';
import { MISHAPS } from './mishaps.ts';
import { Scheduler } from './scheduler.ts';

const START_MS = 1_760_000_000_000;
/** Things go wrong in this time, each for a while. */
const ROUGH_MS = 20_000;
const MISHAP_MS = 8_000;
/** All has to be well again in this time, for so long; back-offs grow to 15 s, one after another. */
const HEALING_MS = 45_000;
const WELL_MS = 6_000;
/** Longer than any request waits. */
const LEFT_MS = 6_000;
const LOOK_MS = 730;

/** What one schedule did. */
export interface Run {
  /** What went wrong by chance, in order: for people. */
  readonly mishaps: readonly string[];
  /** What did not hold; empty when all is well. */
  readonly wrong: readonly string[];
}

/** One viewer, and what chance has for it: all of it follows from `random`. */
export async function runSchedule(random: () => number): Promise<Run> {
  const scheduler = new Scheduler(START_MS + Math.floor(random() * 1_000_000));
  const service = mockService({ now: () => Math.floor(scheduler.nowMs), after: scheduler.after });
  const guest = new Guest(scheduler, service, random, guestOptions(random));
  const marks: Mark[] = [];
  const mishaps = planMishaps(guest, service, random);
  planShow(scheduler, service, random, marks);
  const wrong = await watch(guest);
  guest.viewer.leave();
  const leftMs = scheduler.nowMs;
  await scheduler.advance(LEFT_MS);
  wrong.push(
    ...wrongInFeed(guest, marks),
    ...wrongInHeartbeats(guest),
    ...wrongInTokens(guest),
    ...wrongInAnswers(guest),
    ...wrongAfterLeaving(guest, leftMs),
  );
  return { mishaps: [JSON.stringify(guest.options), ...mishaps], wrong };
}

function guestOptions(random: () => number): GuestOptions {
  const among = <T>(...values: T[]) => values[Math.floor(random() * values.length)] as T;
  return {
    viewerId: 'ada',
    transport: among('auto', 'auto', 'stream', 'poll'),
    canStream: random() < 0.9,
    catchUpMs: among(5_000, 20_000, 60_000),
    hiddenMs: among(0, 3_000, Number.POSITIVE_INFINITY),
    pace: 1 + (random() - 0.5) * 80e-6,
    systemErrorMs: among(0, 20, -3_000, 3_600_000, -86_400_000),
    latencyMs: among(null, null, 2_000, 8_000),
  };
}

/** A few things go wrong, at any moment, one over another. */
function planMishaps(guest: Guest, service: MockService, random: () => number): string[] {
  const names = Object.keys(MISHAPS);
  const planned = Array.from({ length: 1 + Math.floor(random() * 5) }, () => ({
    name: names[Math.floor(random() * names.length)] as string,
    atMs: Math.floor(random() * ROUGH_MS),
    forMs: Math.ceil(random() ** 2 * MISHAP_MS),
  })).sort((a, b) => a.atMs - b.atMs);
  for (const { name, atMs, forMs } of planned) {
    guest.scheduler.after(atMs, () => {
      const end = MISHAPS[name]?.({ guest, service, random, forMs });
      guest.scheduler.after(forMs, () => end?.());
    });
  }
  return planned.map(({ name, atMs, forMs }) => `at ${atMs} ms for ${forMs} ms: ${name}`);
}

/** What the producer does meanwhile. */
function planShow(
  scheduler: Scheduler,
  service: MockService,
  random: () => number,
  marks: Mark[],
): void {
  const mark = () => {
    const number = marks.length;
    marks.push({ interval: intervalAt(scheduler.nowMs), number });
    service.publish(MARK, { number });
    scheduler.after(random() * 2_000, mark);
  };
  mark();
  const ask = () => {
    const durationMs = 2_000 + Math.floor(random() * 6_000);
    service.openQuiz({ choices: ['a', 'b', 'c'], answer: 'a', durationMs });
    scheduler.after(durationMs + 500 + random() * 4_000, ask);
  };
  scheduler.after(2_000 + random() * 4_000, ask);
}

/** Lets time pass until all is well again, and looks at the viewer's clock meanwhile. */
async function watch(guest: Guest): Promise<string[]> {
  const { viewer, machine, scheduler } = guest;
  const wrong: string[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  let healedMs = scheduler.nowMs + ROUGH_MS + MISHAP_MS;
  const latestMs = healedMs + HEALING_MS;
  for (;;) {
    await scheduler.advance(LOOK_MS);
    if (machine.isAsleep) {
      healedMs = Math.max(healedMs, scheduler.nowMs);
      continue;
    }
    const [nowMs, { errorMs }] = [viewer.clock.nowMs(), viewer.clock];
    const offMs = Math.abs(nowMs - scheduler.nowMs);
    if (errorMs !== Number.POSITIVE_INFINITY) {
      if (nowMs < lastMs) wrong.push(`the clock went back by ${lastMs - nowMs} ms`);
      if (offMs > errorMs + 1) wrong.push(`the clock is off by ${offMs} ms, not by ${errorMs}`);
      lastMs = nowMs;
    }
    if (scheduler.nowMs < healedMs + WELL_MS) continue;
    const wrongNow = wrongAtTheEnd(guest, WELL_MS);
    if (wrongNow.length === 0 || scheduler.nowMs > latestMs) return [...wrong, ...wrongNow];
  }
}
