import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ChatLog, IntervalCount, SentLog } from '../../protocol/history.ts';
import {
  expectJson,
  type Harness,
  QUIZ,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';

describe.each(['embedded', 'shared'] as const)('the history of a show on %s backends', (kind) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends: kind });
    await service.advance(1);
  }, 30_000);
  afterAll(() => service.close());

  const read = async <Reply>(streamId: string, what: string): Promise<Reply> =>
    expectJson(await service.studio('GET', `/streams/${streamId}/${what}`), 200);
  const send = (streamId: string, event: object) =>
    service.studio('POST', `/streams/${streamId}/events`, event);
  const postChat = (viewer: TestViewer, line: object) =>
    viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, line);
  /** Seals the current interval. @returns its number */
  const seal = async (): Promise<number> => {
    await service.advance(1);
    return service.interval() - 1;
  };

  test('[B-8] the log has every event except counts and chat messages, newest first', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    await postChat(viewer, { kind: 'message', text: '{"type":"quiz","data":{}}' });
    await send(streamId, { type: 'lights', data: { colour: 'red' } });
    await send(streamId, { type: 'applause', data: null });
    const lights = await seal();
    await postChat(viewer, { kind: 'message', text: '"type":' });
    await send(streamId, { type: 'discount' });
    await seal();
    await send(streamId, { type: 'purchase', data: { name: 'Ada', text: 'bought two mugs' } });
    await service.advance(8);
    const quiz = await service.publishQuiz(streamId);
    await service.advance(12);
    const { results, next } = await read<SentLog>(streamId, 'log');
    expect(next).toBeNull();
    expect(results.map(({ type }) => type)).toEqual([
      ...['quiz-results', 'quiz', 'chats', 'chats', 'applause', 'lights'],
    ]);
    const sold = results.splice(2, 2).map(({ data }) => data);
    expect(sold).toMatchObject([
      { purchases: [{ name: 'Ada', text: 'bought two mugs' }], discounts: 0 },
      { purchases: [], discounts: 1 },
    ]);
    expect(results.slice(2)).toEqual([
      { interval: lights, type: 'applause', data: null },
      { interval: lights, type: 'lights', data: { colour: 'red' } },
    ]);
    for (const { interval, type, data } of results) {
      expect(await service.events(viewer, interval)).toContainEqual({ type, data });
    }
    expect(results[1]?.data).toMatchObject({ id: quiz.id, question: QUIZ.question });
  });

  test('[B-8] the log has pages of whole intervals', async () => {
    const streamId = await service.createStream();
    const sent: number[] = [];
    for (const type of ['one', 'two', 'three']) {
      await send(streamId, { type, data: null });
      await send(streamId, { type: `${type}-more`, data: null });
      sent.push(await seal());
    }
    const first = await read<SentLog>(streamId, 'log?limit=3');
    const types = first.results.map(({ type }) => type);
    expect(types).toEqual(['three-more', 'three', 'two-more', 'two']);
    expect(first.next).toBe(sent[1] as number);
    const second = await read<SentLog>(streamId, `log?limit=3&before=${first.next}`);
    expect(second.results.map(({ interval }) => interval)).toEqual([sent[0], sent[0]] as number[]);
    expect(second.next).toBeNull();
    expect((await read<SentLog>(streamId, 'log?before=0')).results).toEqual([]);
  });

  test('[B-9] the audience has the published counts in order', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    const from = service.interval();
    const published: IntervalCount[] = [];
    await send(streamId, { type: 'look', data: { events: [{ type: 'view-count', value: 7 }] } });
    for (let n = 0; n < 12; n++) {
      if (n < 6) await viewer.post(`/api/v1/view-counts/${streamId}`);
      const interval = await seal();
      for (const { type, data } of await service.events(viewer, interval)) {
        if (type === 'view-count')
          published.push({ interval, count: (data as { value: number }).value });
      }
    }
    expect(published.map(({ count }) => count)).toContain(1);
    const audience = (query: string) =>
      read<{ results: IntervalCount[] }>(streamId, `audience${query}`);
    expect((await audience('')).results).toEqual(published);
    expect((await audience(`?from=${from}`)).results).toEqual(published);
    const second = published[1]?.interval as number;
    expect((await audience(`?to=${second}`)).results).toEqual(published.slice(0, 2));
    expect((await audience(`?from=${second}&to=${second}`)).results).toEqual(published.slice(1, 2));
    expect((await audience(`?from=${second + 1}&to=${second}`)).results).toEqual([]);
  });

  test('[B-10] the chat log has the published chat messages, newest first, of one kind or all', async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    await postChat(viewer, { kind: 'message', text: 'First', name: 'Ada' });
    await postChat(viewer, { kind: 'heart', count: 3 });
    const first = await seal();
    await send(streamId, { type: 'look', data: { questions: [{ id: 'none' }] } });
    await seal();
    await postChat(viewer, { kind: 'question', text: '"kind":"cheer"' });
    await send(streamId, { type: 'purchase', data: { text: 'a mug' } });
    const second = await seal();
    const { results, next } = await read<ChatLog>(streamId, 'chat');
    expect(next).toBeNull();
    const seen = results.map(({ interval, kind: of, text }) => [interval, of, text]);
    expect(seen.slice(0, 2).sort()).toEqual([
      [second, 'purchase', 'a mug'],
      [second, 'question', '"kind":"cheer"'],
    ]);
    const [, , ada] = results;
    const [chats] = (await service.events(viewer, first)).filter(({ type }) => type === 'chats');
    const { kind: _, hidden: __, interval, ...line } = ada as ChatLog['results'][number];
    expect(interval).toBe(first);
    expect(chats?.data).toHaveProperty('messages', [line]);
    for (const [of, text] of [
      ['question', '"kind":"cheer"'],
      ['message', 'First'],
    ]) {
      const some = await read<ChatLog>(streamId, `chat?kind=${of}`);
      expect(some.results.map((one) => one.text)).toEqual([text as string]);
    }
    const page = await read<ChatLog>(streamId, 'chat?limit=1');
    expect(page.results).toHaveLength(2);
    const secondPage = await read<ChatLog>(streamId, `chat?limit=5&before=${page.next}`);
    expect(secondPage).toEqual({ results: [ada as ChatLog['results'][number]], next: null });
  });

  test.each([
    ['[B-8]', 'log', ['before=x', 'before=-1', 'before=1e3', 'limit=0', 'limit=101', 'limit=']],
    ['[B-9]', 'audience', ['from=', 'to=1.5', 'from=0&to=2400']],
    ['[B-10]', 'chat', ['kind=heart', 'kind=', 'limit=1000', 'before=99999999999999999']],
  ])('%s %s with an invalid query gets 400', async (_, what, queries) => {
    const streamId = await service.createStream();
    for (const query of queries) {
      const { status } = await service.studio('GET', `/streams/${streamId}/${what}?${query}`);
      expect([query, status]).toEqual([query, 400]);
    }
  });
});
