import { expect, test } from 'bun:test';
import { mockService } from '../../../sdk/mock/mock-service.ts';
import { Scheduler } from '../../support/scheduler.ts';
import { heartbeatsOf } from '../../support/sdk/virtual-time/checks.ts';
import { NORMAL_VIEWER, SimulatedViewer } from '../../support/sdk/virtual-time/simulated-viewer.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const START_MS = 1_760_000_000_000;
const SECOND_MS = 1_000;
const HOUR_S = 3_600;
/** Typical timer delay of a busy browser. */
const TIMER_DELAY_MS = 50;

test('[V-4] a viewer with timers up to 50 ms late is counted for an hour without a gap', () => {
  const scheduler = new Scheduler(START_MS);
  const service = mockService({ now: () => Math.floor(scheduler.nowMs), after: scheduler.after });
  const simulated = new SimulatedViewer(scheduler, service, seededRandom(1), {
    ...NORMAL_VIEWER,
    transport: 'stream',
    timerDelayMs: TIMER_DELAY_MS,
  });
  const counts: number[] = [];
  simulated.viewer.on('view-count', ({ value }) => counts.push(value));
  scheduler.advance(HOUR_S * SECOND_MS);
  simulated.viewer.leave();
  expect(counts.length).toBeGreaterThanOrEqual(HOUR_S - 2);
  // The first counts may be from before the viewer joined.
  expect(new Set(counts.slice(2))).toEqual(new Set([1]));
  expect(heartbeatsOf(simulated.network.requests).length).toBeLessThanOrEqual(HOUR_S);
});
