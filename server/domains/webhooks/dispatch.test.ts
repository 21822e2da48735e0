import { afterEach, describe, expect, test } from 'bun:test';
import { intervalAt } from '../../../protocol/interval.ts';
import { webhookDataSchemas } from '../../../protocol/webhooks.ts';
import {
  describeWebhooks,
  PRODUCER,
  type WebhookFixture,
} from '../../../test/support/webhooks/webhook-fixture.ts';

const QUIZ = {
  question: 'Which?',
  choices: ['1984', 'b'],
  answer: 'b',
  duration: 1_000,
  reveal: 'auto' as const,
};

describeWebhooks('webhook events', (open) => {
  let fixture: WebhookFixture;
  const openFixture = async () => {
    fixture = await open();
  };
  afterEach(() => fixture.close());

  const own = (id: string) => ({ id, producer: PRODUCER });
  const start = (id: string) => fixture.store.startStream({ ...own(id), nowMs: fixture.nowMs });
  const end = (id: string, atMs: number | null = null) =>
    fixture.store.endStream({ ...own(id), atMs, nowMs: fixture.nowMs });

  async function publishQuiz(
    streamId: string,
    reveal: 'auto' | 'manual' = 'auto',
  ): Promise<string> {
    const id = crypto.randomUUID();
    await fixture.store.createQuiz({ ...own(id), streamId, quiz: { ...QUIZ, reveal } });
    await fixture.store.publishQuiz({ ...own(id), nowMs: fixture.nowMs });
    return id;
  }

  test('[H-5] [H-6] stream.started and stream.ended reach each subscriber once', async () => {
    await openFixture();
    const startAndEnd = await fixture.newWebhook('stream.started', 'stream.ended');
    const endOnly = await fixture.newWebhook('stream.ended');
    const id = await fixture.newStream();
    const started = fixture.nowMs;
    await start(id);
    await start(id);
    fixture.nowMs += 5_000;
    await end(id, fixture.nowMs + 60_000);
    await end(id);
    await end(id);
    const ended = { streamId: id, title: 'A show', started, ended: fixture.nowMs };
    expect((await fixture.deliveries(startAndEnd)).map(({ body }) => body)).toEqual([
      {
        type: 'stream.started',
        timestamp: new Date(started).toISOString(),
        data: { streamId: id, title: 'A show', started },
      },
      { type: 'stream.ended', timestamp: new Date(fixture.nowMs).toISOString(), data: ended },
    ]);
    expect((await fixture.deliveries(endOnly)).map(({ body }) => body.data)).toEqual([ended]);
  });

  test('[H-6] stream.ended is sent for a scheduled end, a lost source, or an end before any start', async () => {
    await openFixture();
    const webhook = await fixture.newWebhook('stream.started', 'stream.ended');
    const [timed, sourceLost, unused] = await fixture.newStreams();
    await start(timed);
    await end(timed, fixture.nowMs + 1_000);
    await end(unused);
    await fixture.store.keepStreamKey({ ...own(sourceLost), offered: 'sk_left' });
    const lease = { nowMs: fixture.nowMs, graceMs: 2_000, sourcesMax: 1 };
    const source = { session: 's', kind: 'rtmp' as const, ...lease };
    await fixture.store.openSource({ key: 'sk_left', ...source });
    await fixture.seal(12);
    const deliveries = await fixture.deliveries(webhook);
    const sent = deliveries.map(({ type, body }) => `${type} ${body.data.streamId}`);
    const started = [timed, sourceLost].map((id) => `stream.started ${id}`);
    const ended = [timed, sourceLost, unused].map((id) => `stream.ended ${id}`);
    expect(sent.toSorted()).toEqual([...started, ...ended].toSorted());
  });

  test('[H-8] quiz.closed has the counts, and the answer only if it is revealed', async () => {
    await openFixture();
    const webhook = await fixture.newWebhook('quiz.closed');
    const streamId = await fixture.newStream();
    const revealed = await publishQuiz(streamId);
    const hidden = await publishQuiz(streamId, 'manual');
    const [quiz = null] = await fixture.store.findPublishedQuizzes([revealed]);
    const { number = 0, created = 0 } = quiz ?? {};
    await fixture.store.recordAnswers([
      { quiz: number, created, seat: 1, choice: 1, receivedMs: fixture.nowMs },
    ]);
    await fixture.seal(8);
    const deliveries = await fixture.deliveries(webhook);
    const byId = new Map(deliveries.map(({ body }) => [body.data.id, body.data]));
    expect(deliveries).toHaveLength(2);
    expect(byId.get(revealed)).toMatchObject({
      streamId,
      question: 'Which?',
      order: ['1984', 'b'],
      choices: { '1984': { count: 0, percentage: 0 }, b: { count: 1, percentage: 100 } },
      answer: 'b',
    });
    expect(byId.get(hidden)).toMatchObject({ answer: null, order: ['1984', 'b'] });
    for (const { body } of deliveries) webhookDataSchemas['quiz.closed'].strict().parse(body.data);
    expect(JSON.stringify(byId.get(hidden))).not.toContain('"answer":"');
  });

  test('[H-8] winners has the number of winners', async () => {
    await openFixture();
    const webhook = await fixture.newWebhook('winners');
    const streamId = await fixture.newStream();
    const roundId = crypto.randomUUID();
    const request = { id: roundId, streamId, producer: PRODUCER, nowMs: fixture.nowMs };
    await fixture.store.requestWinners(request);
    await fixture.seal(2);
    await fixture.store.recordWinners([{ streamId, seat: 3, receivedMs: fixture.nowMs }]);
    await fixture.seal(4);
    expect((await fixture.deliveries(webhook)).map(({ body }) => body.data)).toEqual([
      { streamId, roundId, count: 1 },
    ]);
  });

  test('[H-5] webhooks of other accounts, disabled ones and those without the type receive nothing', async () => {
    await openFixture();
    const disabled = await fixture.newWebhook('stream.started');
    const other = await fixture.newWebhook('winners');
    const later = await fixture.newWebhook('winners');
    const account = PRODUCER;
    await fixture.store.patchWebhook({ id: disabled, account, patch: { enabled: false } });
    const otherAccount = crypto.randomUUID();
    await fixture.store.createAccount({
      user: { uuid: otherAccount, email: 'b@example.org', name: 'B', created: 0 },
      token: { id: 'another', name: 'test', prefix: 'fb_', hash: 'other' },
      nowMs: 0,
    });
    const foreignWebhook = crypto.randomUUID();
    await fixture.store.createWebhook({
      ...{ id: foreignWebhook, account: otherAccount, secret: 'whsec_', nowMs: 0 },
      webhook: { url: 'https://b.example.org/', events: ['stream.started'], enabled: true },
    });
    await start(await fixture.newStream());
    for (const id of [disabled, other, later]) expect(await fixture.deliveries(id)).toEqual([]);
    const [row] = await fixture.run('select count(*) as n from deliveries');
    expect(Number(row?.n)).toBe(0);
    await fixture.store.patchWebhook({ id: disabled, account, patch: { enabled: true } });
    const patch = { events: ['stream.started' as const] };
    await fixture.store.patchWebhook({ id: later, account, patch });
    await start(await fixture.newStream());
    const sent: number[] = [];
    for (const id of [disabled, other, later]) sent.push((await fixture.deliveries(id)).length);
    expect(sent).toEqual([1, 0, 1]);
  });

  describe('audience.minute', () => {
    /** The audience minutes that a webhook got, as [minutes since `fromMs`, count, peak]. */
    const minutes = async (webhook: string, fromMs: number) => {
      const deliveries = (await fixture.deliveries(webhook)).map(({ body: { data } }) => data);
      return deliveries
        .toSorted((a, b) => Number(a.minute) - Number(b.minute))
        .map(({ minute, count, peak }) => [(Number(minute) - fromMs) / 60_000, count, peak]);
    };

    test('[H-7] audience.minute is sent at the end of a minute with its last and highest count', async () => {
      await openFixture();
      const webhook = await fixture.newWebhook('audience.minute');
      const [id, quiet, unstarted] = await fixture.newStreams();
      const fromMs = fixture.nowMs;
      await start(id);
      await start(quiet);
      await fixture.seal(100, { [id]: 3, [unstarted]: 9 });
      await fixture.seal(40, { [id]: 8 });
      await fixture.seal(99, { [id]: 5 });
      expect(await fixture.deliveries(webhook)).toEqual([]);
      await fixture.seal(1, { [id]: 5 });
      const deliveries = await fixture.deliveries(webhook);
      expect(deliveries.map(({ body }) => body.data)).toContainEqual({
        ...{ streamId: id, minute: fromMs, count: 5, peak: 8 },
      });
      expect(deliveries.map(({ body }) => body.data)).toContainEqual({
        ...{ streamId: quiet, minute: fromMs, count: 0, peak: 0 },
      });
      expect(deliveries).toHaveLength(2);
      await end(quiet);
      await fixture.seal(240, { [id]: 2 });
      expect((await minutes(webhook, fromMs)).slice(2)).toEqual([[1, 2, 2]]);
      await end(id);
      await fixture.seal(240);
      expect(await fixture.deliveries(webhook)).toHaveLength(3);
    });

    test('[H-7] audience.minute covers the counted part of a minute in which sealing stopped', async () => {
      await openFixture();
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
      // One sealing up to the end of a minute, and one beyond it.
      await fixture.seal(60, { [id]: 1 });
      await fixture.sealTo(first + 6 * 240 - 1, { [id]: 2 });
      expect((await minutes(webhook, fromMs)).slice(2)).toEqual([
        [4, 1, 1],
        [5, 2, 2],
      ]);
    });
  });

  test('[H-5] [H-17] concurrent nodes dispatch each of many events once', async () => {
    await openFixture();
    const webhooks: string[] = [];
    for (let n = 0; n < 2; n++) webhooks.push(await fixture.newWebhook('stream.ended'));
    const ids = new Set<string>();
    for (let n = 0; n < 130; n++) {
      const id = await fixture.newStream();
      ids.add(id);
      await end(id);
    }
    const hasUndispatched = async () =>
      (await fixture.store.findWebhookWork({ nowMs: fixture.nowMs })).undispatched;
    expect(await hasUndispatched()).toBe(true);
    while (await hasUndispatched())
      await Promise.all(fixture.nodes.map((node) => node.dispatchWebhookEvents({ after: '' })));
    for (const webhook of webhooks) {
      const rows = await fixture.run('select body from deliveries where webhook = $1', [webhook]);
      const deliveries = rows.map(({ body }) => JSON.parse(String(body)).data.streamId);
      expect(deliveries).toHaveLength(130);
      expect(new Set(deliveries)).toEqual(ids);
    }
  });

  test('[H-26] a dispatch makes deliveries of at most 1 MB, or those of one event', async () => {
    await openFixture();
    const webhooks: string[] = [];
    for (let n = 0; n < 20; n++) webhooks.push(await fixture.newWebhook('quiz.closed'));
    const streamId = await fixture.newStream();
    const log = (key: string, length: number) =>
      fixture.run(
        `insert into happenings (at, type, key, stream_id, data) values ($1, 'quiz.closed', $2, $3, $4)`,
        [fixture.nowMs, key, streamId, JSON.stringify('é'.repeat(length / 2))],
      );
    const dispatched = async () => {
      const [row] = await fixture.run('select count(*) as n from deliveries');
      return Number(row?.n);
    };
    for (let n = 0; n < 6; n++) await log(`1-${n}`, 19_000);
    await log('2', 60_000);
    const counts: number[] = [];
    for (let more = true; more; counts.push(await dispatched()))
      ({ hasMore: more } = await fixture.store.dispatchWebhookEvents({ after: '' }));
    expect(counts).toEqual([40, 80, 120, 140]);
    for (const webhook of webhooks) expect(await fixture.deliveries(webhook)).toHaveLength(7);
  });

  test('[H-26] a dispatch says that more wait while an account has more events than its share', async () => {
    await openFixture();
    await fixture.newWebhook('quiz.closed');
    const streamId = await fixture.newStream();
    for (const [account, events] of [
      ['long', 60],
      ['short', 1],
    ] as const)
      for (let n = 0; n < events; n++)
        await fixture.run(
          `insert into happenings (at, type, key, stream_id, data, account)
           values ($1, 'quiz.closed', $2, $3, '{}', $4)`,
          [fixture.nowMs, `${account} ${n}`, streamId, account],
        );
    for (let more = true, after = ''; more; )
      ({ hasMore: more, after } = await fixture.store.dispatchWebhookEvents({ after }));
    const [row] = await fixture.run('select count(*) as n from deliveries');
    expect(Number(row?.n)).toBe(61);
  });

  test('[H-26] an account waits one turn of the others, however many older events they have logged', async () => {
    await openFixture();
    const own = await fixture.newWebhook('stream.started');
    const ownStream = await fixture.newStream();
    const others = await Promise.all(
      Array.from({ length: 5 }, async () => ({
        account: crypto.randomUUID(),
        webhook: await fixture.newWebhook('quiz.closed'),
        streamId: await fixture.newStream(),
      })),
    );
    // 400 KB: a dispatch makes the deliveries of two of them.
    const data = JSON.stringify('é'.repeat(200_000));
    for (const { account, webhook, streamId } of others) {
      const user = { uuid: account, email: `${account}@example.org`, name: 'B', created: 0 };
      const token = { id: account, name: 'test', prefix: 'fb_', hash: account };
      await fixture.store.createAccount({ user, token, nowMs: 0 });
      await fixture.run('update streams set producer = $2 where id = $1', [streamId, account]);
      for (const [table, id] of [
        ['webhooks', 'id'],
        ['subscriptions', 'webhook'],
      ])
        await fixture.run(`update ${table} set account = $2 where ${id} = $1`, [webhook, account]);
      for (let n = 0; n < 4; n++) {
        await fixture.run(
          `insert into happenings (at, type, key, stream_id, data, account)
           values ($1, 'quiz.closed', $2, $3, $4, $5)`,
          [fixture.nowMs - 60_000, `${account} ${n}`, streamId, data, account],
        );
      }
    }
    await start(ownStream);
    const countOf = async (webhook: string) => {
      const [row] = await fixture.run('select count(*) as n from deliveries where webhook = $1', [
        webhook,
      ]);
      return Number(row?.n);
    };
    let after = PRODUCER;
    for (let n = 0; n < 3; n++) ({ after } = await fixture.store.dispatchWebhookEvents({ after }));
    expect(await countOf(own)).toBe(1);
    for (const { webhook } of others) expect(await countOf(webhook)).toBeGreaterThan(0);
    for (let more = true; more; )
      ({ hasMore: more, after } = await fixture.store.dispatchWebhookEvents({ after }));
    for (const { webhook } of others) expect(await countOf(webhook)).toBe(4);
  });

  test('[H-5] a call fails when its webhook event cannot be logged', async () => {
    await openFixture();
    const webhook = await fixture.newWebhook('stream.started');
    const id = await fixture.newStream();
    await fixture.run('alter table happenings rename to unavailable');
    expect(await start(id).catch((error) => error)).toBeInstanceOf(Error);
    expect((await fixture.store.findOwnStream(own(id))).status).toBe('CREATED');
    await fixture.run('alter table unavailable rename to happenings');
    await start(id);
    expect(await fixture.deliveries(webhook)).toHaveLength(1);
  });

  test('[H-21] sealing continues without loss when webhook events cannot be logged', async () => {
    await openFixture();
    await fixture.newWebhook('quiz.closed', 'audience.minute', 'stream.ended');
    const streamId = await fixture.newStream();
    await start(streamId);
    const quiz = await publishQuiz(streamId);
    await fixture.run('alter table happenings rename to unavailable');
    const from = await fixture.store.readWatermark({});
    const outcome = await fixture.sealTo(from + 8, { [streamId]: 3 });
    expect(outcome).toMatchObject({
      outcome: 'sealed',
      eventLogError: expect.stringMatching(/\w/),
    });
    expect((await fixture.store.findOwnQuiz(own(quiz))).state).toBe('revealed');
    const { bodies } = await fixture.store.readSealedOfAll({ from: from + 1, to: from + 8 });
    const types = bodies.flatMap(({ body }) =>
      JSON.parse(body).events.map(({ type }: { type: string }) => type),
    );
    expect(types).toEqual(['view-count', 'quiz', 'quiz-results']);
    expect(await fixture.store.readWatermark({})).toBe(from + 8);
    await fixture.run('alter table unavailable rename to happenings');
    const next = await fixture.sealTo(from + 12, { [streamId]: 3 });
    expect(next).not.toHaveProperty('eventLogError');
  });

  test('[H-20] beyond 10,000 logged events of an account the oldest are removed', async () => {
    await openFixture();
    const logEvents = (account: string, count: number) =>
      fixture.run(
        `insert into happenings (at, type, key, stream_id, data, account)
         with recursive made(n) as (select 1 union all select n + 1 from made where n < ${count})
         select n, 'quiz.closed', '${account} ' || n, 'a stream', '{}', '${account}' from made`,
      );
    await logEvents('a', 10_000);
    await logEvents('b', 10_150);
    for (const account of ['c', 'd', 'e', 'f']) await logEvents(account, 1);
    await logEvents('g', 10_001);
    const removed: number[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const trimmed = await fixture.store.trimEventLog({ after });
      removed.push(trimmed.removed);
      after = trimmed.after;
    }
    expect(removed).toEqual([100, 50, 0, 1, 0]);
    const [oldest] = await fixture.run(
      `select min(at) as "at" from happenings where account = 'b'`,
    );
    expect(Number(oldest?.at)).toBe(151);
    const [left] = await fixture.run('select count(*) as "n" from happenings');
    expect(Number(left?.n)).toBe(3 * 10_000 + 4);
  });
});
