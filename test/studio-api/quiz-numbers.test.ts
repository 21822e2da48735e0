import { expect, test } from 'bun:test';
import { expectJson, type Harness, QUIZ, startService } from '../support/harness/harness.ts';

const METRIC = 'fourbeat_quiz_numbers_used_ratio';

function usedNumbers({ service }: Harness): number {
  const metric = service.stats.additional.find(({ name }) => name === METRIC);
  const [[ratio] = [Number.NaN]] = [...(metric?.read() ?? [])];
  return ratio * (2 ** 31 - 1);
}

test('[L-13] a metric has the share of the numbers of quizzes that are used, also by deleted ones', async () => {
  await using harness = await startService();
  await harness.service.upkeep();
  expect(usedNumbers(harness)).toBe(0);
  const path = `/streams/${await harness.createStream()}/quizzes`;
  const create = async () =>
    expectJson<{ id: string }>(await harness.studio('POST', path, QUIZ), 201);
  await create();
  const { id } = await create();
  expect((await harness.studio('DELETE', `/quizzes/${id}`)).status).toBe(204);
  await harness.service.upkeep();
  expect(usedNumbers(harness)).toBeCloseTo(2);
});
