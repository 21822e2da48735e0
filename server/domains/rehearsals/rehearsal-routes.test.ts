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

const runNow = <T>(work: () => T) => work();
