import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { intervalAt } from '../../../protocol/interval.ts';
import { webhookDataSchemas } from '../../../protocol/webhooks.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/backends/postgres.ts';
import {
  openInPostgres,
  openInSqlite,
  PRODUCER,
  WebhookFixture,
} from '../../../test/support/webhooks/webhook-fixture.ts';

let postgres: PostgresServer;
let databases = 0;
beforeAll(async () => {
  postgres = await startPostgres({ fsync: false });
}, 30_000);
afterAll(() => postgres.stop());

const FIXTURES = [
  ['SQLite', openInSqlite],
  ['PostgreSQL', async () => openInPostgres(await postgres.createDatabase(`told_${++databases}`))],
] as const;

const QUIZ = {
  question: 'Which?',
  choices: ['1984', 'b'],
  answer: 'b',
  duration: 1_000,
  reveal: 'auto' as const,
};

describe.each(FIXTURES)('what happens, in %s', (_, open) => {
  let fixture: WebhookFixture;
  const opened = async () => {
    fixture = await WebhookFixture.on(await open());
    return fixture;
  };
  afterEach(() => fixture.close());

  const own = (id: string) => ({ id, producer: PRODUCER });
  const start = (id: string) => fixture.store.startStream({ ...own(id), nowMs: fixture.nowMs });
  const end = (id: string, atMs: number | null = null) =>
    fixture.store.endStream({ ...own(id), atMs, nowMs: fixture.nowMs });

  async function published(streamId: string, reveal: 'auto' | 'manual' = 'auto'): Promise<string> {
    const id = crypto.randomUUID();
    await fixture.store.createQuiz({ ...own(id), streamId, quiz: { ...QUIZ, reveal } });
    await fixture.store.publishQuiz({ ...own(id), nowMs: fixture.nowMs });
    return id;
  }

  test('[H-5] [H-6] a start and an end are told once each, to those who ask', async () => {
    await opened();
    const both = await fixture.newWebhook('stream.started', 'stream.ended');
    const ends = await fixture.newWebhook('stream.ended');
    const id = await fixture.newStream();
    const started = fixture.nowMs;
    await start(id);
    await start(id);
    fixture.nowMs += 5_000;
    await end(id, fixture.nowMs + 60_000);
    await end(id);
    await end(id);
    const ended = { streamId: id, title: 'A show', started, ended: fixture.nowMs };
    expect((await fixture.told(both)).map(({ body }) => body)).toEqual([
      {
        type: 'stream.started',
        timestamp: new Date(started).toISOString(),
        data: { streamId: id, title: 'A show', started },
      },
      { type: 'stream.ended', timestamp: new Date(fixture.nowMs).toISOString(), data: ended },
    ]);
    expect((await fixture.told(ends)).map(({ body }) => body.data)).toEqual([ended]);
  });

  test('[H-6] an end is told that comes of its time, of a source that left, or before any start', async () => {
    await opened();
    const webhook = await fixture.newWebhook('stream.started', 'stream.ended');
    const [timed, left, unused] = [
      await fixture.newStream(),
      await fixture.newStream(),
      await fixture.newStream(),
    ] as const;
    await start(timed);
    await end(timed, fixture.nowMs + 1_000);
    await end(unused);
    await fixture.store.keepStreamKey({ ...own(left), offered: 'sk_left' });
    const source = { session: 's', kind: 'rtmp' as const, nowMs: fixture.nowMs, graceMs: 2_000 };
    await fixture.store.openSource({ key: 'sk_left', ...source });
    await fixture.seal(12);
    const told = (await fixture.told(webhook)).map(({ type, body }) => [type, body.data.streamId]);
    expect(told.toSorted()).toEqual(
      [
        ['stream.started', timed],
        ['stream.started', left],
        ['stream.ended', timed],
        ['stream.ended', left],
        ['stream.ended', unused],
      ].toSorted(),
    );
  });

  test('[H-8] a closed quiz has its counts, and its answer only when it is revealed', async () => {
    await opened();
    const webhook = await fixture.newWebhook('quiz.closed');
    const streamId = await fixture.newStream();
    const revealed = await published(streamId);
    const hidden = await published(streamId, 'manual');
    const quiz = await fixture.store.findPublishedQuiz({ id: revealed });
    const arrival = { receivedMs: fixture.nowMs, interval: intervalAt(fixture.nowMs) };
    await fixture.store.recordAnswers([
      { quiz: quiz?.number ?? 0, seat: 1, choice: 1, ...arrival },
    ]);
    await fixture.seal(8);
    const told = await fixture.told(webhook);
    const byId = new Map(told.map(({ body }) => [body.data.id, body.data]));
    expect(told).toHaveLength(2);
    expect(byId.get(revealed)).toMatchObject({
      streamId,
      question: 'Which?',
      order: ['1984', 'b'],
      choices: { '1984': { count: 0, percentage: 0 }, b: { count: 1, percentage: 100 } },
      answer: 'b',
    });
    expect(byId.get(hidden)).toMatchObject({ answer: null, order: ['1984', 'b'] });
    for (const { body } of told) webhookDataSchemas['quiz.closed'].strict().parse(body.data);
    expect(JSON.stringify(byId.get(hidden))).not.toContain('"answer":"');
  });

  test('[H-8] a winners round is told with its count', async () => {
    await opened();
    const webhook = await fixture.newWebhook('winners');
    const streamId = await fixture.newStream();
    const roundId = crypto.randomUUID();
    const asked = { id: roundId, streamId, producer: PRODUCER, nowMs: fixture.nowMs };
    await fixture.store.requestWinners(asked);
    await fixture.seal(2);
    await fixture.store.recordWinners([{ streamId, seat: 3, receivedMs: fixture.nowMs }]);
    await fixture.seal(4);
    expect((await fixture.told(webhook)).map(({ body }) => body.data)).toEqual([
      { streamId, roundId, count: 1 },
    ]);
  });

  test('[H-5] nobody is told who is another account, is disabled, or does not ask', async () => {
    await opened();
    const disabled = await fixture.newWebhook('stream.started');
    const other = await fixture.newWebhook('winners');
    const later = await fixture.newWebhook('winners');
    const account = PRODUCER;
    await fixture.store.patchWebhook({ id: disabled, account, patch: { enabled: false } });
    const stranger = crypto.randomUUID();
    await fixture.store.createAccount({
      user: { uuid: stranger, email: 'b@example.org', name: 'B', created: 0 },
      token: { id: 'another', name: 'test', prefix: 'fb_', hash: 'other' },
      nowMs: 0,
    });
    const strange = crypto.randomUUID();
    await fixture.store.createWebhook({
      ...{ id: strange, account: stranger, secret: 'whsec_', nowMs: 0 },
      webhook: { url: 'https://b.example.org/', events: ['stream.started'], enabled: true },
    });
    await start(await fixture.newStream());
    for (const id of [disabled, other, later]) expect(await fixture.told(id)).toEqual([]);
    const [row] = await fixture.run('select count(*) as n from deliveries');
    expect(Number(row?.n)).toBe(0);
    await fixture.store.patchWebhook({ id: disabled, account, patch: { enabled: true } });
    const patch = { events: ['stream.started' as const] };
    await fixture.store.patchWebhook({ id: later, account, patch });
    await start(await fixture.newStream());
    expect([
      (await fixture.told(disabled)).length,
      (await fixture.told(other)).length,
      (await fixture.told(later)).length,
    ]).toEqual([1, 0, 1]);
  });

  describe('minutes', () => {
    /** The minutes that a webhook was told, as [minutes since the beginning, count, peak]. */
    const minutes = async (webhook: string, fromMs: number) => {
      const told = (await fixture.told(webhook)).map(({ body: { data } }) => data);
      return told
        .toSorted((a, b) => Number(a.minute) - Number(b.minute))
        .map(({ minute, count, peak }) => [(Number(minute) - fromMs) / 60_000, count, peak]);
    };

    test('[H-7] are told at their end, with the last count and the highest', async () => {
      await opened();
      const webhook = await fixture.newWebhook('audience.minute');
      const [id, quiet, unstarted] = [
        await fixture.newStream(),
        await fixture.newStream(),
        await fixture.newStream(),
      ] as const;
      const fromMs = fixture.nowMs;
      await start(id);
      await start(quiet);
      await fixture.seal(100, { [id]: 3, [unstarted]: 9 });
      await fixture.seal(40, { [id]: 8 });
      await fixture.seal(99, { [id]: 5 });
      expect(await fixture.told(webhook)).toEqual([]);
      await fixture.seal(1, { [id]: 5 });
      const told = await fixture.told(webhook);
      expect(told.map(({ body }) => body.data)).toContainEqual({
        ...{ streamId: id, minute: fromMs, count: 5, peak: 8 },
      });
      expect(told.map(({ body }) => body.data)).toContainEqual({
        ...{ streamId: quiet, minute: fromMs, count: 0, peak: 0 },
      });
      expect(told).toHaveLength(2);
      await end(quiet);
      await fixture.seal(240, { [id]: 2 });
      expect((await minutes(webhook, fromMs)).slice(2)).toEqual([[1, 2, 2]]);
      await end(id);
      await fixture.seal(240);
      expect(await fixture.told(webhook)).toHaveLength(3);
    });

    test('[H-7] in which sealing stood still are told as far as they were counted', async () => {
      await opened();
      const webhook = await fixture.newWebhook('audience.minute');
      const id = await fixture.newStream();
      const fromMs = fixture.nowMs;
      const first = intervalAt(fromMs);
      await start(id);
      await fixture.seal(60, { [id]: 4 });
      await fixture.sealTo(first + 3 * 240 + 100, { [id]: 7 });
      expect(await minutes(webhook, fromMs)).toEqual([[0, 4, 4]]);
      await fixture.seal(139, { [id]: 6 });
      expect(await minutes(webhook, fromMs)).toEqual([
        [0, 4, 4],
        [3, 6, 7],
      ]);
      // To the very end of a minute, and over it.
      await fixture.seal(60, { [id]: 1 });
      await fixture.sealTo(first + 6 * 240 - 1, { [id]: 2 });
      expect((await minutes(webhook, fromMs)).slice(2)).toEqual([
        [4, 1, 1],
        [5, 2, 2],
      ]);
    });
  });

  test('[H-5] [H-17] nodes that tell together tell everything once, however much it is', async () => {
    await opened();
    const webhooks = [
      await fixture.newWebhook('stream.ended'),
      await fixture.newWebhook('stream.ended'),
    ];
    const ids = new Set<string>();
    for (let n = 0; n < 130; n++) {
      const id = await fixture.newStream();
      ids.add(id);
      await end(id);
    }
    const untold = async () =>
      (await fixture.store.findWebhookWork({ nowMs: fixture.nowMs })).untold;
    expect(await untold()).toBe(true);
    while (await untold()) await Promise.all(fixture.nodes.map((node) => node.tellWebhooks({})));
    for (const webhook of webhooks) {
      const rows = await fixture.run('select body from deliveries where webhook = $1', [webhook]);
      const told = rows.map(({ body }) => JSON.parse(String(body)).data.streamId);
      expect(told).toHaveLength(130);
      expect(new Set(told)).toEqual(ids);
    }
  });

  test('[H-5] what cannot be told does not happen in a call of the producer', async () => {
    await opened();
    const webhook = await fixture.newWebhook('stream.started');
    const id = await fixture.newStream();
    await fixture.run('alter table happenings rename to away');
    expect(await start(id).catch((error) => error)).toBeInstanceOf(Error);
    expect((await fixture.store.findOwnStream(own(id))).status).toBe('CREATED');
    await fixture.run('alter table away rename to happenings');
    await start(id);
    expect(await fixture.told(webhook)).toHaveLength(1);
  });

  test('[H-21] what cannot be told stops no sealing, and nothing else in it is lost', async () => {
    await opened();
    await fixture.newWebhook('quiz.closed', 'audience.minute', 'stream.ended');
    const streamId = await fixture.newStream();
    await start(streamId);
    const quiz = await published(streamId);
    await fixture.run('alter table happenings rename to away');
    const from = await fixture.store.readWatermark({});
    const outcome = await fixture.sealTo(from + 8, { [streamId]: 3 });
    expect(outcome).toMatchObject({ outcome: 'sealed', eventLogError: expect.stringMatching(/\w/) });
    expect((await fixture.store.findOwnQuiz(own(quiz))).state).toBe('revealed');
    const bodies = await fixture.store.readSealedOfAll({ from: from + 1, to: from + 8 });
    const types = bodies.flatMap(({ body }) =>
      JSON.parse(body).events.map(({ type }: { type: string }) => type),
    );
    expect(types).toEqual(['view-count', 'quiz', 'quiz-results']);
    expect(await fixture.store.readWatermark({})).toBe(from + 8);
    await fixture.run('alter table away rename to happenings');
    const next = await fixture.sealTo(from + 12, { [streamId]: 3 });
    expect(next).not.toHaveProperty('eventLogError');
  });
});
