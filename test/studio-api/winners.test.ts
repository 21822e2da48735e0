import { describe, expect, test } from 'bun:test';
import type { WinnersRound } from '../../protocol/studio.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, type PublishedQuiz } from '../support/harness/harness.ts';

const service = await serviceOfFile();

/** Advances the clock until the quiz has closed. */
const close = (quiz: PublishedQuiz) => service.advance(quiz.closeInterval - service.interval() + 1);

describe('winners', () => {
  const request = (streamId: string) =>
    service.studio('POST', `/streams/${streamId}/request-winners`);
  const rounds = async (streamId: string) => {
    const response = await service.studio('GET', `/streams/${streamId}/winners-rounds`);
    return (await expectJson<{ results: WinnersRound[] }>(response, 200)).results;
  };

  test('[P-21] [P-22] a round is open, then closed with its count', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    for (let n = 0; n < 2; n++) {
      const quiz = await service.publishQuiz(streamId);
      await answer(viewer, quiz);
      await close(quiz);
    }
    const requested = service.clock.nowMs();
    const round = await expectJson<WinnersRound>(await request(streamId), 201);
    expect(round).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      streamId,
      state: 'open',
      quizzes: 2,
      requested,
      count: null,
      contactNote: null,
      contacts: 0,
    });
    expect(await rounds(streamId)).toEqual([round]);
    expect((await viewer.post(`/api/v1/quizzes/${streamId}/record-winner`)).status).toBe(204);
    await service.advance(5);
    expect(await rounds(streamId)).toEqual([{ ...round, state: 'closed', count: 1 }]);
  });

  test('[P-4] [P-22] rounds are listed in order; the next game starts empty', async () => {
    const streamId = await service.createStream();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push((await expectJson<WinnersRound>(await request(streamId), 201)).id);
      await service.advance(5);
    }
    const listed = await rounds(streamId);
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(listed.map(({ quizzes, count }) => [quizzes, count])).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  test('[W-3] a request gets 409 while a quiz is open or not revealed, or a round is open', async () => {
    const streamId = await service.createStream();
    const quiz = await service.publishQuiz(streamId, { reveal: 'manual' });
    expect((await request(streamId)).status).toBe(409);
    await close(quiz);
    expect((await request(streamId)).status).toBe(409);
    await service.studio('POST', `/quizzes/${quiz.id}/reveal`);
    expect((await request(streamId)).status).toBe(201);
    expect((await request(streamId)).status).toBe(409);
    expect(await rounds(streamId)).toHaveLength(1);
  });

  test('[P-26] a request gets 409 in an ended stream', async () => {
    const streamId = await service.createStream();
    await service.studio('POST', `/streams/${streamId}/end`);
    expect((await request(streamId)).status).toBe(409);
  });
});
