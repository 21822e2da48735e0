import { describe, expect, test } from 'bun:test';
import type { QuizResults } from '../../protocol/quizzes.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { eventsFrom, ofType } from '../support/conformance/feed-viewer.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, QUIZ, type TestViewer } from '../support/harness/harness.ts';

const service = await serviceOfFile();

const quizOf = (response: Response, status = 200) => expectJson<StudioQuiz>(response, status);
const draft = async (streamId: string, fields: object = {}): Promise<StudioQuiz> =>
  quizOf(await service.studio('POST', `/streams/${streamId}/quizzes`, { ...QUIZ, ...fields }), 201);
const read = async (id: string) => quizOf(await service.studio('GET', `/quizzes/${id}`));
const act = (id: string, action: string) => service.studio('POST', `/quizzes/${id}/${action}`);
const detailOf = async (response: Response) =>
  (await expectJson<{ detail: string }>(response, 400)).detail;

/** Events of a type in the sealed intervals from `from` on. */
const typeFrom = async (type: string, viewer: TestViewer, from: number) =>
  ofType(await eventsFrom(service, viewer, from), type);

/** Advances the clock until the quiz has closed. */
async function close(quiz: { closeInterval: number | null }): Promise<void> {
  await service.advance((quiz.closeInterval ?? 0) - service.interval() + 1);
}

describe('a draft', () => {
  test('[P-15] [P-16] a draft is created with 201 and exactly the fields of a StudioQuiz', async () => {
    const streamId = await service.createStream();
    const quiz = await draft(streamId);
    expect(quiz).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      streamId,
      state: 'draft',
      ...QUIZ,
      reveal: 'auto',
      created: null,
      closeInterval: null,
      counts: null,
    });
    expect(await read(quiz.id)).toEqual(quiz);
    expect((await draft(streamId, { reveal: 'manual' })).reveal).toBe('manual');
  });

  test('[Q-3] a draft accepts values at the limits', async () => {
    const streamId = await service.createStream();
    const choices = Array.from({ length: 10 }, (_, n) => `${n}`.padEnd(200, 'x'));
    const fields = { question: 'q'.repeat(500), choices, answer: choices[9], duration: 600_000 };
    expect(await draft(streamId, fields)).toMatchObject(fields);
    const short = { question: '?', choices: ['2', '1'], answer: '1', duration: 1_000 };
    expect(await draft(streamId, short)).toMatchObject(short);
  });

  test.each([
    [{ question: '' }, 'question'],
    [{ question: 'q'.repeat(501) }, 'question'],
    [{ question: undefined }, 'question'],
    [{ choices: ['Jupiter'] }, 'choices'],
    [{ choices: [...Array.from({ length: 10 }, (_, n) => `${n}`), 'Jupiter'] }, 'choices'],
    [{ choices: ['Jupiter', 'Mars', 'Jupiter'] }, 'choices'],
    [{ choices: ['Jupiter', ''] }, 'choices'],
    [{ choices: ['Jupiter', 'x'.repeat(201)] }, 'choices'],
    [{ choices: ['Jupiter', '__proto__'] }, 'choices'],
    [{ choices: ['Jupiter', 4] }, 'choices'],
    [{ choices: 'Jupiter' }, 'choices'],
    [{ answer: 'jupiter' }, 'answer'],
    [{ answer: 'Pluto' }, 'answer'],
    [{ answer: 1 }, 'answer'],
    [{ duration: 999 }, 'duration'],
    [{ duration: 600_001 }, 'duration'],
    [{ duration: 1_000.5 }, 'duration'],
    [{ duration: '2000' }, 'duration'],
    [{ reveal: 'never' }, 'reveal'],
    [{ colour: 'red' }, 'colour'],
    [{ state: 'open' }, 'state'],
  ])('[Q-3] [P-3] a draft with %j gets 400, which names %s', async (fields, member) => {
    const streamId = await service.createStream();
    const body = { ...QUIZ, ...fields };
    const response = await service.studio('POST', `/streams/${streamId}/quizzes`, body);
    expect(await detailOf(response)).toContain(member);
  });

  test('[P-18] a draft is changed by PATCH in the sent fields only', async () => {
    const quiz = await draft(await service.createStream());
    const patch = (body: object) => service.studio('PATCH', `/quizzes/${quiz.id}`, body);
    expect(await quizOf(await patch({ duration: 5_000 }))).toEqual({ ...quiz, duration: 5_000 });
    const choices = ['Saturn', 'Jupiter'];
    expect(await quizOf(await patch({ choices, question: 'Rings?' }))).toEqual({
      ...quiz,
      duration: 5_000,
      choices,
      question: 'Rings?',
    });
    expect((await quizOf(await patch({ answer: 'Saturn', reveal: 'manual' }))).answer).toBe(
      'Saturn',
    );
    const before = await read(quiz.id);
    for (const body of [
      {},
      { answer: 'Venus' },
      { choices: ['Mars', 'Venus'] },
      { question: null },
      { duration: 1 },
      { state: 'open' },
    ]) {
      expect(`${JSON.stringify(body)} ${(await patch(body)).status}`).toEndWith(' 400');
    }
    expect(await read(quiz.id)).toEqual(before);
  });

  test('[P-18] a draft is deleted with 204', async () => {
    const streamId = await service.createStream();
    const quiz = await draft(streamId);
    const deleted = await service.studio('DELETE', `/quizzes/${quiz.id}`);
    expect(deleted.status).toBe(204);
    expect((await service.studio('GET', `/quizzes/${quiz.id}`)).status).toBe(404);
    const list = await service.studio('GET', `/streams/${streamId}/quizzes`);
    expect(await expectJson<object>(list, 200)).toMatchObject({ results: [] });
  });

  test('[P-4] [P-18] quizzes are listed in the order of the rundown', async () => {
    const streamId = await service.createStream();
    const made: string[] = [];
    for (let n = 0; n < 22; n++) made.push((await draft(streamId, { question: `Q${n}?` })).id);
    await act(made[3] ?? '', 'publish');
    const list = await service.studio('GET', `/streams/${streamId}/quizzes`);
    const { results } = await expectJson<{ results: StudioQuiz[] }>(list, 200);
    expect(results.map(({ id }) => id)).toEqual(made);
    expect(results[3]).toEqual(await read(made[3] ?? ''));
  });

  test('[P-20] a draft cannot be revealed: 409', async () => {
    const quiz = await draft(await service.createStream());
    expect((await act(quiz.id, 'reveal')).status).toBe(409);
  });
});

describe('a published quiz', () => {
  test('[P-19] [Q-4] a published quiz is open with created and closeInterval, and its event is in the feed', async () => {
    const streamId = await service.createStream({ latencyAllowance: 130 });
    const viewer = await service.viewer(streamId);
    const quiz = await draft(streamId, { duration: 1_001 });
    const from = service.interval();
    const created = service.clock.nowMs();
    const published = await quizOf(await act(quiz.id, 'publish'));
    const closeInterval = Math.ceil((created + 1_001 + 130) / 250);
    expect(published).toEqual({ ...quiz, state: 'open', created, closeInterval });
    await service.advance(1);
    const [event] = await typeFrom('quiz', viewer, from);
    expect(event).toMatchObject({ interval: from, data: { id: quiz.id, created, closeInterval } });
  });

  test('[P-18] [Q-6] a published quiz cannot be changed, deleted or published again', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    const from = service.interval();
    const quiz = await service.publishQuiz(streamId);
    const before = await read(quiz.id);
    expect((await act(quiz.id, 'publish')).status).toBe(409);
    const patched = await service.studio('PATCH', `/quizzes/${quiz.id}`, { duration: 9_000 });
    expect(patched.status).toBe(409);
    expect((await service.studio('DELETE', `/quizzes/${quiz.id}`)).status).toBe(409);
    expect((await act(quiz.id, 'reveal')).status).toBe(409);
    expect(await read(quiz.id)).toEqual(before);
    await service.advance(2);
    expect(await typeFrom('quiz', viewer, from)).toHaveLength(1);
  });

  test('[Q-6] publishing is possible in CREATED and STREAMING, and gets 409 in ENDED', async () => {
    const streamId = await service.createStream();
    await service.publishQuiz(streamId);
    await service.studio('POST', `/streams/${streamId}/start`);
    await service.publishQuiz(streamId);
    const quiz = await draft(streamId);
    await service.studio('POST', `/streams/${streamId}/end`);
    expect((await act(quiz.id, 'publish')).status).toBe(409);
    expect((await read(quiz.id)).state).toBe('draft');
  });

  test('[P-16] [P-17] [Q-18] a published quiz has null counts until the close, then those of quiz-results', async () => {
    const streamId = await service.createStream();
    const viewers = await Promise.all([1, 2, 3].map(() => service.viewer(streamId)));
    const from = service.interval();
    const quiz = await service.publishQuiz(streamId);
    for (const [index, choice] of ['Mars', 'Jupiter', 'Jupiter'].entries()) {
      expect((await answer(viewers[index] as TestViewer, quiz, choice)).status).toBe(204);
    }
    await service.advance(quiz.closeInterval - service.interval());
    expect(await read(quiz.id)).toMatchObject({ state: 'open', counts: null });
    await service.advance(1);
    const closed = await read(quiz.id);
    expect(closed).toMatchObject({ state: 'revealed', answer: 'Jupiter' });
    expect(closed.counts).toEqual({
      Mars: { count: 1, percentage: 33 },
      Jupiter: { count: 2, percentage: 67 },
      Venus: { count: 0, percentage: 0 },
    });
    const results = await typeFrom('quiz-results', viewers[0] as TestViewer, from);
    const published = results.map(({ data }) => (data as QuizResults).choices);
    expect(published).toEqual([closed.counts ?? {}]);
  });
});

describe('a manual reveal', () => {
  test('[P-20] [Q-18] a manual reveal gets 409 while the quiz is open, 200 once it is closed, and 200 again without a second event', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    const from = service.interval();
    const quiz = await service.publishQuiz(streamId, { reveal: 'manual' });
    expect((await act(quiz.id, 'reveal')).status).toBe(409);
    await close(quiz);
    await service.advance(2);
    expect((await read(quiz.id)).state).toBe('closed');
    expect(await typeFrom('quiz-results', viewer, from)).toEqual([]);
    const revealed = await quizOf(await act(quiz.id, 'reveal'));
    expect(revealed.state).toBe('revealed');
    expect(await quizOf(await act(quiz.id, 'reveal'))).toEqual(revealed);
    await service.advance(2);
    expect(await quizOf(await act(quiz.id, 'reveal'))).toEqual(revealed);
    await service.advance(1);
    expect(await typeFrom('quiz-results', viewer, from)).toHaveLength(1);
  });

  test('[P-26] a manual reveal is possible in an ended stream', async () => {
    const streamId = await service.createStream();
    const quiz = await service.publishQuiz(streamId, { reveal: 'manual' });
    await service.studio('POST', `/streams/${streamId}/end`);
    await close(quiz);
    expect((await quizOf(await act(quiz.id, 'reveal'))).state).toBe('revealed');
  });
});
