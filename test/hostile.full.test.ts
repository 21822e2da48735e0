import { afterAll, expect, test } from 'bun:test';
import { runHostile } from './support/hostile/hostile-run.ts';
import { startTarget, type Target } from './support/hostile/target.ts';

// 20,000 requests in all: `npm run hostile` sends more, and measures memory.

const targets: Target[] = [];
afterAll(() => Promise.all(targets.map((target) => target.stop())));

test.each([
  ['one thread', { isCluster: false, workers: 1 }],
  ['two threads', { isCluster: false, workers: 2 }],
  ['three nodes', { isCluster: true, workers: 1 }],
] as const)(
  '[I-7] [G-28] no hostile request gets a 5xx, hangs, or sees what is not its own: %s',
  async (_, options) => {
    const target = await startTarget(options);
    targets.push(target);
    const report = await runHostile(target, { requests: 6_700, seed: 1, restMs: 0 });
    expect(report.violations).toEqual([]);
    // Each kind of request reached the service.
    expect([...report.statuses.keys()].length).toBeGreaterThanOrEqual(7);
    expect(report.statuses.get('operation')?.get('200')).toBeGreaterThan(50);
    expect(report.statuses.get('comparison')?.get('204')).toBeGreaterThan(50);
    expect(report.statuses.get('websocket')?.get('101')).toBeGreaterThan(20);
  },
  240_000,
);
