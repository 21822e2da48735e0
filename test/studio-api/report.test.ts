import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { type ReadyReport, type Report, reportSchema } from '../../protocol/report.ts';
import { newStreamSchema } from '../../protocol/studio.ts';
import { eventsFrom, ofType } from '../support/conformance/feed-viewer.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import {
  expectJson,
  type Harness,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';

describe.each(['embedded', 'shared'] as const)('the report of a show on %s backends', (kind) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends: kind });
    await service.advance(1);
  }, 30_000);
  afterAll(() => service.close());

  const end = (id: string) => service.studio('POST', `/streams/${id}/end`);
  const start = (id: string) => service.studio('POST', `/streams/${id}/start`);
  const read = (id: string) => service.studio('GET', `/streams/${id}/report`);
  const report = async (id: string) => expectJson<Report>(await read(id), 200);
  /** Ends a show and reads its report. */
  async function endShow(id: string): Promise<ReadyReport> {
    expect((await end(id)).status).toBe(200);
    await service.advance(2);
    await service.service.makeReports();
    const made = await report(id);
    if (made.state !== 'ready') throw new Error(`the report is ${made.state}`);
    return made;
  }
  const postChat = (viewer: TestViewer, post: object) =>
    viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, post);
  /** Seals intervals in which these viewers watch. */
  async function watch(intervals: number, ...viewers: TestViewer[]): Promise<void> {
    for (let n = 0; n < intervals; n++) {
      for (const viewer of viewers) await viewer.post(`/api/v1/view-counts/${viewer.streamId}`);
      await service.advance(1);
    }
  }

  test('[J-1] the report is missing before the end, then working, then ready', async () => {
    const id = await service.createStream();
    expect((await read(id)).status).toBe(409);
    await start(id);
    expect((await read(id)).status).toBe(409);
    await end(id);
    expect(await report(id)).toEqual({ state: 'working', done: 0 });
    await service.advance(2);
    await service.service.makeReports();
    const made = await report(id);
    expect(made).toEqual({
      state: 'ready',
      made: service.clock.nowMs(),
      started: expect.any(Number),
      ended: expect.any(Number),
      peak: null,
      average: 0,
      uniqueViewers: 0,
      minutesWatched: 0,
      audience: [],
      quizzes: [],
      rounds: [],
      chat: {
        lines: { message: 0, question: 0, greeting: 0, cheer: 0, purchase: 0 },
        hearts: 0,
        discounts: 0,
      },
      fairness: null,
      recording: { hls_url: null },
    });
    expect(reportSchema.parse(made)).toEqual(made);
  });

  test('[J-1] a report is `failed` after six failed attempts', async () => {
    const id = await service.createStream();
    await end(id);
    await service.advance(2);
    const nowMs = service.clock.nowMs();
    await service.store.orderReports({ nowMs });
    for (let n = 0; n < 6; n++) {
      const lease = `lease ${n}`;
      const claimed = await service.store.claimReport({ lease, after: '', nowMs });
      expect(claimed?.tries).toBe(n + 1);
      await service.store.postponeReport({ streamId: id, lease, dueMs: nowMs });
    }
    expect(await report(id)).toEqual({ state: 'failed' });
    await service.service.makeReports();
    expect((await report(id)).state).toBe('ready');
  });

  test('[J-1] [J-11] a report of several parts is one JSON text', async () => {
    const id = await service.createStream();
    await start(id);
    const ids: string[] = [];
    for (let n = 0; n < 41; n++) {
      ids.push((await service.publishQuiz(id, { duration: 1_000, question: `${n}?` })).id);
    }
    await service.advance(12);
    const made = await endShow(id);
    expect(reportSchema.parse(made)).toEqual(made);
    expect(made.quizzes.map((quiz) => quiz.id)).toEqual(ids);
  });

  test('[S-19] [J-2] a reopened show goes on: quizzes count, and its report is made anew', async () => {
    const id = await service.createStream();
    const viewer = await service.viewer(id);
    await start(id);
    const first = await service.publishQuiz(id, { duration: 1_000 });
    await service.advance(1);
    expect((await answer(viewer, first)).status).toBe(204);
    await service.advance(9);
    const before = await endShow(id);
    const from = service.interval();
    expect((await service.studio('POST', `/streams/${id}/reopen`)).status).toBe(200);
    expect((await read(id)).status).toBe(409);
    const second = await service.publishQuiz(id, { duration: 1_000 });
    await service.advance(1);
    expect((await answer(viewer, second)).status).toBe(204);
    await service.advance(9);
    const events = await eventsFrom(service, viewer, from);
    expect(ofType(events, 'quiz').map(({ data }) => (data as { id: string }).id)).toEqual([
      second.id,
    ]);
    const after = await endShow(id);
    expect(after.started).toBe(before.started);
    expect(after.quizzes.map(({ answered }) => answered)).toEqual([1, 1]);
  });

  test('[J-1] a rehearsal gets no report', async () => {
    const id = crypto.randomUUID();
    const of = await service.createStream();
    const nowMs = service.clock.nowMs();
    const stream = newStreamSchema.parse({ title: 'A try', unlisted: true });
    await service.store.createStream({
      ...{ id, producer: service.account.uuid, nowMs },
      stream,
      rehearsal: { of, endsAtMs: nowMs + 3_600_000 },
    });
    expect((await end(id)).status).toBe(200);
    await service.advance(2);
    await service.service.makeReports();
    expect((await read(id)).status).toBe(409);
    const row = { streamId: id, producer: service.account.uuid };
    expect((await service.store.readReport(row)).text).toBeNull();
  });

  test('[J-4] [J-5] [J-6] a report has the published audience of the show', async () => {
    const id = await service.createStream();
    const [one, two, three] = (await Promise.all([0, 1, 2].map(() => service.viewer(id)))) as [
      TestViewer,
      TestViewer,
      TestViewer,
    ];
    await service.advance(4 - (service.interval() % 4));
    await watch(8, one, two, three);
    await start(id);
    const from = service.interval();
    await watch(8, one);
    await watch(8, one, two);
    await watch(8, two);
    const made = await endShow(id);
    await watch(8, one, two, three);
    const to = from + 24;
    const counts = ofType<{ value: number }>(await eventsFrom(service, one, from), 'view-count');
    const published = counts
      .filter(({ interval }) => interval <= to)
      .map(({ interval, data }) => ({ interval, count: data.value }));
    expect(published.map(({ count }) => count)).toContain(2);
    expect(made.audience).toEqual(published);
    const most = Math.max(...published.map(({ count }) => count));
    expect(made.peak).toEqual(published.find(({ count }) => count === most) ?? null);
    const sum = published.reduce((total, { count }) => total + count, 0);
    expect(made.minutesWatched).toBe(Math.round(sum / 6) / 10);
    expect(made.average).toBe(Math.round((sum * 10) / (25 / 4)) / 10);
    expect(made.uniqueViewers).toBe(3);
    expect(intervalAt(made.started as number)).toBe(from);
    expect(intervalAt(made.ended)).toBe(to);
  });

  test('[J-5] a report has an average of at most the peak for a very short show', async () => {
    const id = await service.createStream();
    const viewer = await service.viewer(id);
    await service.advance(6 - (service.interval() % 4));
    await start(id);
    await watch(2, viewer);
    const made = await endShow(id);
    expect([made.peak?.count, made.average, made.audience.length]).toEqual([1, 1, 1]);
  });

  test('[J-4] a report starts at the first event for a show that was never started', async () => {
    const id = await service.createStream();
    await service.advance(20);
    const viewer = await service.viewer(id);
    await postChat(viewer, { kind: 'message', text: 'Is it on?' });
    await watch(8, viewer);
    const made = await endShow(id);
    expect(made.started).toBeNull();
    expect(made.average).toBeGreaterThan(0.5);
    expect(made.chat.lines.message).toBe(1);
  });

  test('[J-7] [J-9] a report has counts and answer times of quizzes', async () => {
    const id = await service.createStream();
    await start(id);
    const viewers = await Promise.all([0, 1, 2, 3].map(() => service.viewer(id)));
    const publishedInterval = service.interval();
    const quiz = await service.publishQuiz(id, { duration: 5_000 });
    await service.publishQuiz(id, { duration: 5_000, reveal: 'manual', question: 'And then?' });
    service.pass(100);
    expect((await answer(viewers[0] as TestViewer, quiz)).status).toBe(204);
    await service.advance(4);
    service.pass(30);
    expect((await answer(viewers[1] as TestViewer, quiz, 'Mars')).status).toBe(204);
    await service.advance(quiz.closeInterval - service.interval() - 1);
    service.pass(100);
    expect((await answer(viewers[2] as TestViewer, quiz)).status).toBe(204);
    const last = service.clock.nowMs() - intervalStartMs(publishedInterval);
    await service.advance(2);
    const made = await endShow(id);
    expect(made.quizzes).toHaveLength(2);
    const [first, second] = made.quizzes;
    const { histogram, ...times } = first?.answerTimes ?? {};
    expect({ ...first, answerTimes: times }).toEqual({
      id: quiz.id,
      question: 'Which planet is the largest?',
      order: ['Mars', 'Jupiter', 'Venus'],
      counts: {
        Mars: { count: 1, percentage: 33 },
        Jupiter: { count: 2, percentage: 67 },
        Venus: { count: 0, percentage: 0 },
      },
      answer: 'Jupiter',
      correct: 2,
      answered: 3,
      toldInterval: publishedInterval,
      closeInterval: quiz.closeInterval,
      answerTimes: { median: 1_030, p90: last - (last % 4) },
      lastMomentShare: 1 / 3,
    });
    const bins = histogram?.counts ?? [];
    expect(histogram?.binMs).toBe(250);
    expect(bins).toHaveLength(20);
    expect([bins[0], bins[4], bins[19]]).toEqual([1, 1, 1]);
    expect(second).toMatchObject({
      question: 'And then?',
      answered: 0,
      answer: 'Jupiter',
      answerTimes: null,
      lastMomentShare: 0,
    });
    expect(made.fairness).toEqual({
      answers: 3,
      earliest: 100,
      median: 1_030,
      latest: last,
      early: 1,
    });
  });

  test('[J-8] a report has winners of rounds and totals of the chat', async () => {
    const id = await service.createStream();
    await start(id);
    const viewer = await service.viewer(id);
    for (const kind of ['message', 'question', 'greeting', 'cheer', 'message']) {
      await postChat(viewer, { kind, text: 'Hello' });
    }
    await postChat(viewer, { kind: 'heart', count: 7 });
    for (const [type, data] of [
      ['purchase', { text: 'mug' }],
      ['discount', { count: 3 }],
    ]) {
      await service.studio('POST', `/streams/${id}/events`, { type, data });
    }
    await service.advance(2);
    const response = await service.studio('POST', `/streams/${id}/request-winners`);
    const round = await expectJson<{ id: string; requested: number }>(response, 201);
    await service.advance(2);
    await viewer.post(`/api/v1/quizzes/${id}/record-winner`);
    await service.advance(5);
    const made = await endShow(id);
    expect(made.rounds).toEqual([
      { id: round.id, requested: round.requested, quizzes: 0, count: 1 },
    ]);
    expect(made.chat).toEqual({
      lines: { message: 2, question: 1, greeting: 1, cheer: 1, purchase: 1 },
      hearts: 7,
      discounts: 3,
    });
  });

  test('[J-10] a report has the address of a recording, or the address of the producer', async () => {
    const recorded = await service.createStream({ recording: true });
    const own = await service.createStream({ hls_url: 'https://cdn.example.org/show.m3u8' });
    expect((await endShow(recorded)).recording.hls_url).toBe(
      `${service.url}/media/${recorded}/master.m3u8`,
    );
    expect((await endShow(own)).recording.hls_url).toBe('https://cdn.example.org/show.m3u8');
  });

  describe('exports', () => {
    const lines = async (id: string, what: string) => {
      const response = await service.studio('GET', `/streams/${id}/exports/${what}`);
      expect(response.headers.get('content-type')).toBe('application/x-ndjson');
      const texts = (await response.text()).split('\n').slice(0, -1);
      return texts.map((text) => JSON.parse(text));
    };
    const csv = async (id: string, what: string) => {
      const response = await service.studio('GET', `/streams/${id}/exports/${what}?format=csv`);
      expect(response.headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename="a-show-\\d{4}-\\d\\d-\\d\\d-${what}\\.csv"$`),
      );
      return response.text();
    };

    test('[J-12] exports of the audience have a row per published count', async () => {
      const id = await service.createStream();
      const viewer = await service.viewer(id);
      await service.advance(4 - (service.interval() % 4));
      const first = service.interval() + 3;
      // More than a page, on the faster backend.
      const seconds = kind === 'embedded' ? 251 : 20;
      await watch(4 * seconds, viewer);
      const rows = await lines(id, 'audience');
      expect(rows).toHaveLength(seconds);
      for (const [n, row] of rows.entries()) {
        const interval = first + 4 * n;
        const at = intervalStartMs(interval);
        expect(row).toEqual({ interval, at, count: 1, time: new Date(at).toISOString() });
      }
      const firstMs = intervalStartMs(first);
      const time = new Date(firstMs).toISOString();
      const head = `interval,at,count,time\r\n${first},${firstMs},1,${time}\r\n`;
      expect(await csv(id, 'audience')).toStartWith(head);
    }, 30_000);

    test('[J-12] exports of the chat have a row per message, in order', async () => {
      const id = await service.createStream();
      const viewer = await service.viewer(id);
      await postChat(viewer, { kind: 'message', text: '=1+1', name: 'Ada' });
      await service.advance(1);
      const [line] = await lines(id, 'chat');
      await service.studio('POST', `/streams/${id}/chat/hidden`, { ids: [line.id] });
      const data = { name: 'Bob', text: 'a mug' };
      await service.studio('POST', `/streams/${id}/events`, { type: 'purchase', data });
      await service.advance(1);
      const rows = await lines(id, 'chat');
      const interval = service.interval() - 2;
      expect(rows).toEqual([
        {
          interval,
          at: expect.any(Number),
          kind: 'message',
          id: expect.any(String),
          viewer: expect.stringMatching(/^[\w-]{22}$/),
          name: 'Ada',
          text: '=1+1',
          hidden: true,
          time: expect.stringMatching(/^20.+Z$/),
        },
        {
          interval: interval + 1,
          at: expect.any(Number),
          kind: 'purchase',
          id: expect.any(String),
          viewer: '',
          ...data,
          hidden: false,
          time: expect.stringMatching(/^20.+Z$/),
        },
      ]);
      const [head, first] = (await csv(id, 'chat')).split('\r\n');
      expect(head).toBe('interval,at,kind,id,viewer,name,text,hidden,time');
      expect(first).toContain(`,Ada,'=1+1,true,20`);
    });

    test('[J-12] exports of the results have a row per choice of closed quizzes', async () => {
      const id = await service.createStream();
      const viewer = await service.viewer(id);
      const quiz = await service.publishQuiz(id);
      await answer(viewer, quiz, 'Mars');
      await service.advance(quiz.closeInterval - service.interval() + 1);
      await service.publishQuiz(id, { question: 'Still open?' });
      const question = 'Which planet is the largest?';
      expect(await lines(id, 'results')).toEqual(
        [
          ['Mars', false, 1, 100],
          ['Jupiter', true, 0, 0],
          ['Venus', false, 0, 0],
        ].map(([choice, correct, count, percentage]) => {
          return { quizId: quiz.id, question, choice, correct, count, percentage };
        }),
      );
      expect(await csv(id, 'results')).toStartWith(
        `quizId,question,choice,correct,count,percentage\r\n${quiz.id},${question},Mars,false,1,100\r\n`,
      );
    });
  });
});
