import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectJson, type Harness, startService } from './harness.ts';
import { RehearsalGround } from './rehearsal-ground.ts';

// Rehearsals with their viewers: what these say is compared with the record.

describe.each(['embedded', 'shared'] as const)(
  'the viewers of a rehearsal on %s backends',
  (backends) => {
    let service: Harness;
    beforeAll(async () => {
      service = await startService({ backends, clock: 'real' });
    }, 30_000);
    afterAll(() => service.close());

    test.concurrent('[Y-4] [Y-6] [Y-7] [Y-8] come, answer, and are told as many answers as are recorded', async () => {
      const ground = await RehearsalGround.of(service, { duration: 3_000 });
      const { streamId } = await ground.begun({ viewers: 40 });
      await ground.once(({ crowd }) => crowd?.present === 40);
      const { counts } = await ground.ask(streamId, 0);
      const sum = Object.values(counts ?? {}).reduce((total, { count }) => total + count, 0);
      await service.studio('POST', `/streams/${streamId}/end`);
      const { crowd, ended } = await ground.once(({ state }) => state === 'over');
      expect(crowd?.mismatch).toBeNull();
      expect(crowd?.checks).toBeGreaterThan(100);
      expect(crowd?.requests).toBeGreaterThan(400);
      expect(crowd?.lost).toBe(0);
      expect(crowd?.answers.acknowledged).toBe(await ground.recorded(streamId));
      expect(crowd?.answers.acknowledged).toBe(sum);
      expect(sum).toBeGreaterThan(20);
      expect(crowd?.quizzes).toEqual([
        {
          id: expect.any(String),
          question: 'Which planet is the largest?',
          acknowledged: sum,
          refusedLate: crowd?.answers.refusedLate ?? -1,
          counted: sum,
        },
      ]);
      expect(ended).toBeGreaterThan(0);
      // They left: soon nobody is counted.
      const viewer = await service.viewer(streamId);
      const count = async (): Promise<number> => {
        const response = await viewer.get(`/api/v1/view-counts/${streamId}`);
        return (await expectJson<{ value: number }>(response, 200)).value;
      };
      for (let tries = 0; tries < 30 && (await count()) > 0; tries++) await Bun.sleep(100);
      expect(await count()).toBe(0);
    }, 30_000);

    test.concurrent('[Y-5] [Y-7] answers that are sent after the close are refused, all of them', async () => {
      const ground = await RehearsalGround.of(service, { duration: 1_000 });
      const { streamId } = await ground.begun({ viewers: 20, lateShare: 1 });
      await ground.once(({ crowd }) => crowd?.present === 20);
      await ground.ask(streamId, 0);
      const { crowd } = await ground.once(({ crowd: now }) => (now?.answers.refusedLate ?? 0) > 10);
      expect(crowd?.answers.acknowledged).toBe(0);
      expect(crowd?.quizzes[0]).toMatchObject({ acknowledged: 0, counted: 0 });
      expect(await ground.recorded(streamId)).toBe(0);
      expect(crowd?.mismatch).toBeNull();
      await ground.end();
    }, 30_000);

    test.concurrent('[Y-5] [Y-7] bots answer at once; what is lost is tried again, and counted once', async () => {
      const ground = await RehearsalGround.of(service, { duration: 5_000 });
      const { streamId } = await ground.begun({ viewers: 30, botShare: 1, lossShare: 0.3 });
      await ground.once(({ crowd }) => crowd?.present === 30);
      await ground.ask(streamId, 0);
      const { crowd } = await ground.once(({ crowd: now }) => now?.quizzes[0]?.counted != null);
      expect(crowd?.lost).toBeGreaterThan(20);
      const { acknowledged = 0, unknown = 0 } = crowd?.answers ?? {};
      const recorded = await ground.recorded(streamId);
      expect(acknowledged).toBeGreaterThan(15);
      expect(recorded).toBeGreaterThanOrEqual(acknowledged);
      // What came but whose answer was lost each time may be recorded, too.
      expect(recorded).toBeLessThanOrEqual(acknowledged + unknown + 1);
      expect(crowd?.mismatch).toBeNull();
      await ground.end();
    }, 30_000);
  },
);
