import { expect, test } from 'bun:test';
import type { StudioCall, StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { QUIZ_BYTES_MIN } from '../../auth/write-bytes.ts';
import { RateLimited } from '../../platform/errors.ts';
import { type RehearsalRoutes, rehearsalHandlers } from './rehearsal-routes.ts';

test('[L-22] a rehearsal counts each draft as its bytes and at least 4 KB, before it is created', async () => {
  const counted: number[] = [];
  const studio = ((_: unknown, run: unknown) => run) as unknown as StudioHandlerFactory;
  const { createRehearsal } = rehearsalHandlers(studio, {
    store: {
      listDrafts: async () => [1, QUIZ_BYTES_MIN, 9_000].map((bytes) => ({ bytes })),
      createRehearsal: () => {
        throw new Error('a rehearsal is created');
      },
    },
    largeOperations: { run: (_: unknown, work: (step: unknown) => unknown) => work(runNow) },
    runner: { unavailableReason: () => null },
  } as unknown as RehearsalRoutes);
  const call = {
    params: {},
    takeBytes: (bytes: number) => {
      counted.push(bytes);
      throw new RateLimited('Too much data.', 1);
    },
  } as unknown as StudioCall;
  const create = createRehearsal as unknown as (call: StudioCall) => Promise<unknown>;
  await expect(create(call)).rejects.toThrow('Too much data.');
  expect(counted).toEqual([2 * QUIZ_BYTES_MIN + 9_000]);
});

test('[Y-8] a rehearsal is reported while drafts are copied, however long that takes', async () => {
  let nowMs = 0;
  const reportsMs: number[] = [];
  const studio = ((_: unknown, run: unknown) => run) as unknown as StudioHandlerFactory;
  const { createRehearsal } = rehearsalHandlers(studio, {
    clock: { nowMs: () => nowMs },
    newId: () => 'rehearsal',
    store: {
      listDrafts: async () => Array.from({ length: 2_000 }, (_, n) => ({ id: `${n}`, bytes: 1 })),
      createRehearsal: async () => ({ streamId: 'rehearsal', settings: {} }),
      copyDrafts: async () => {
        nowMs += 400;
      },
      reportRehearsal: async (report: { nowMs: number }) => void reportsMs.push(report.nowMs),
    },
    largeOperations: { run: (_: unknown, work: (step: unknown) => unknown) => work(runNow) },
    runner: { unavailableReason: () => null, run: () => {}, node: 'a node' },
  } as unknown as RehearsalRoutes);
  const create = createRehearsal as unknown as (call: unknown) => Promise<unknown>;
  await create({ params: {}, takeBytes: () => {} });
  expect(reportsMs).toEqual(Array.from({ length: 20 }, (_, n) => (n + 1) * 400));
});

const runNow = <T>(work: () => T) => work();
