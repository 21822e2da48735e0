import { describe, expect, test } from 'bun:test';
import type { Operation } from '../../protocol/operation.ts';
import { type PresenterState, presenterStateSchema } from '../../protocol/presenter.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { hashSecret } from '../../server/auth/secrets.ts';
import { CALLER_STREAMS_MAX } from '../../server/domains/live/open-stream-limit.ts';
import { createConfig } from '../../server/platform/config.ts';
import { EventReader } from '../support/conformance/event-source.ts';
import { expectUnauthorized } from '../support/conformance/expectations.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { databaseFiles, expectJson, QUIZ, startService } from '../support/harness/harness.ts';
import { newMember } from '../support/studio/user-agent.ts';

// The presenter display: its content, and who may read it.

const service = await serviceOfFile();
await service.advance(1);

interface NewKey {
  readonly key: string;
  readonly url: string;
}

const keyPath = (streamId: string) => `/streams/${streamId}/presenter-key`;
const newKey = async (streamId: string): Promise<NewKey> =>
  expectJson(await service.studio('POST', keyPath(streamId)), 201);
const present = (streamId: string, key: string, method = 'GET') =>
  fetch(`${service.url}/studio/v1/streams/${streamId}/present`, {
    method,
    headers: { Authorization: `Presenter ${key}` },
  });

async function open(streamId: string): Promise<EventReader> {
  const { key } = await newKey(streamId);
  const response = await present(streamId, key);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  return new EventReader(response);
}

const stateWith = (reader: EventReader, meets: (state: PresenterState) => boolean) =>
  reader.nextState<PresenterState>((state) => meets(presenterStateSchema.strict().parse(state)));
const next = (reader: EventReader) => stateWith(reader, () => true);

describe('the presenter key', () => {
  test('[B-11] a presenter key is `pk_` and 40 characters in the fragment of its address', async () => {
    const streamId = await service.createStream();
    const made = await newKey(streamId);
    expect(Object.keys(made).sort()).toEqual(['key', 'url']);
    expect(made.key).toMatch(/^pk_[0-9A-Za-z]{40}$/);
    expect(made.url).toBe(`${service.url}/studio/present/${streamId}#key=${made.key}`);
  });

  test('[B-11] a presenter key is stored as a hash with its creation time', async () => {
    const streamId = await service.createStream();
    const read = async () =>
      expectJson<object>(await service.studio('GET', keyPath(streamId)), 200);
    expect(await read()).toEqual({ created: null });
    const { key } = await newKey(streamId);
    expect(await read()).toEqual({ created: service.clock.nowMs() });
    const files = databaseFiles(service);
    expect(files.some((text) => text.includes(hashSecret(key)))).toBe(true);
    expect(files.some((text) => text.includes(key))).toBe(false);
  });

  test('[B-12] a presenter key opens the presenter display of its show and nothing else', async () => {
    const [streamId, otherId] = [await service.createStream(), await service.createStream()];
    const { key } = await newKey(streamId);
    await newKey(otherId);
    const operations: Operation[] = Object.values(studioApi);
    for (const { method, path, access } of operations) {
      if (access === 'public' || path.endsWith('/present')) continue;
      const response = await fetch(service.url + path.replace(/\{\w+\}/g, () => streamId), {
        method,
        headers: { Authorization: `Presenter ${key}` },
      });
      expect([method, path, response.status]).toEqual([method, path, 401]);
    }
    await expectUnauthorized(await present(otherId, key), 'Token');
    await expectUnauthorized(await present(streamId, `pk_${'a'.repeat(40)}`), 'Token');
    const asViewer = await fetch(`${service.url}/api/v1/view-counts/${streamId}`, {
      headers: { Authorization: `Presenter ${key}` },
    });
    await expectUnauthorized(asViewer, 'Bearer');
    const opened = await present(streamId, key);
    expect(opened.status).toBe(200);
    await opened.body?.cancel();
    expect((await present(streamId, key, 'HEAD')).status).toBe(200);
  });

  test.each([
    ['replaced', 'POST'],
    ['withdrawn', 'DELETE'],
  ])('[B-11] [B-12] a presenter key that is %s ends, with its streams', async (_, method) => {
    const streamId = await service.createStream();
    const { key } = await newKey(streamId);
    const reader = new EventReader(await present(streamId, key));
    await next(reader);
    await service.studio(method, keyPath(streamId));
    expect((await present(streamId, key)).status).toBe(401);
    expect(await reader.ended(2_500)).toBe(true);
  });

  test('[B-12] a presenter key has its own rate limit beside that of the account', async () => {
    await using limited = await startService({
      config: { rates: { ...createConfig({}).rates, studio: { points: 4, durationS: 60 } } },
    });
    const streamId = await limited.createStream();
    const { key } = await expectJson<NewKey>(await limited.studio('POST', keyPath(streamId)), 201);
    const statuses: number[] = [];
    for (let n = 0; n < 5; n++) {
      const response = await fetch(`${limited.url}/studio/v1/streams/${streamId}/present`, {
        headers: { Authorization: `Presenter ${key}` },
      });
      await response.body?.cancel();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    expect((await limited.studio('GET', '/account')).status).toBe(200);
  });
});

test('[B-19] [G-27] a presenter key opens 50 streams, then gets 429, and takes none of the others', async () => {
  const streamId = await service.createStream();
  const { key } = await newKey(streamId);
  const opened = await Promise.all(
    Array.from({ length: CALLER_STREAMS_MAX }, () => present(streamId, key)),
  );
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  for (const method of ['GET', 'HEAD']) {
    const refused = await present(streamId, key, method);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  }
  const ofProgram = await service.studio('GET', `/streams/${streamId}/present`);
  expect(ofProgram.status).toBe(200);
  await Promise.all([...opened, ofProgram].map(({ body }) => body?.cancel()));
});

describe('the presenter display of a show', () => {
  test('[B-13] the presenter display is sent at once and each half second', async () => {
    const streamId = await service.createStream({ title: 'Quiz night' });
    const reader = await open(streamId);
    expect(await next(reader)).toEqual({
      now: service.clock.nowMs(),
      stream: { id: streamId, title: 'Quiz night', status: 'CREATED' },
      count: 0,
      quiz: null,
      winners: null,
    });
    const startMs = performance.now();
    for (let n = 0; n < 2; n++) {
      const message = await reader.next(3_000);
      expect(message?.fields).toContainEqual(['event', 'state']);
    }
    expect(performance.now() - startMs).toBeLessThan(2_000);
    await reader.close();
  });

  test('[B-13] [I-6] has the answers so far, and no right answer before the reveal', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    const reader = await open(streamId);
    const quiz = await service.publishQuiz(streamId, { duration: 1_000, reveal: 'manual' });
    await answer(viewer, quiz);
    const withAnswer = await stateWith(reader, (state) => state.quiz?.answered === 1);
    expect(withAnswer.quiz).toEqual({
      id: quiz.id,
      question: QUIZ.question,
      order: [...QUIZ.choices],
      state: 'open',
      created: quiz.created,
      duration: 1_000,
      closeInterval: quiz.closeInterval,
      answered: 1,
      tally: expect.objectContaining({ [QUIZ.answer]: { count: 1, percentage: 100 } }),
      results: null,
    });
    await service.advance(6);
    const closed = await stateWith(reader, (state) => state.quiz?.state === 'closed');
    expect(closed.quiz).toMatchObject({ answered: 1, results: null });
    await service.studio('POST', `/quizzes/${quiz.id}/reveal`);
    const { quiz: shown } = await stateWith(reader, (state) => state.quiz?.state === 'revealed');
    expect(shown).toMatchObject({ answered: 1, tally: null, results: { answer: QUIZ.answer } });
    expect(shown?.results?.choices[QUIZ.answer]).toEqual({ count: 1, percentage: 100 });
    await reader.close();
  });

  test('[B-13] the presenter display has the winners from their request until the next quiz', async () => {
    const streamId = await service.createStream();
    const reader = await open(streamId);
    await service.publishQuiz(streamId, { duration: 1_000 });
    await service.advance(6);
    await service.studio('POST', `/streams/${streamId}/request-winners`);
    await stateWith(reader, ({ winners }) => winners !== null && winners.count === null);
    await service.advance(6);
    await stateWith(reader, ({ winners }) => winners?.count === 0);
    await service.publishQuiz(streamId);
    await stateWith(reader, ({ winners }) => winners === null);
    await reader.close();
  });

  test.each(['owner', 'host', 'moderator'] as const)(
    '[B-12] the presenter display is available to a %s and ends with the session',
    async (role) => {
      const streamId = await service.createStream();
      const { browser } = await newMember(service, role);
      const response = await browser.send('GET', `/streams/${streamId}/present`);
      expect(response.status).toBe(200);
      const reader = new EventReader(response);
      await next(reader);
      await browser.send('DELETE', '/session');
      expect(await reader.ended(2_500)).toBe(true);
    },
  );
});
