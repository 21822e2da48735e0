import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  REHEARSAL_LENGTH_MS,
  REHEARSAL_RETENTION_MS,
  REHEARSALS_PER_NODE_AND_ACCOUNT_MAX,
  REHEARSALS_PER_NODE_MAX,
} from '../../protocol/limits.ts';
import type { Product } from '../../protocol/products.ts';
import { type Rehearsal, rehearsalSchema } from '../../protocol/rehearsal.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { LOST_AFTER_MS } from '../../server/domains/rehearsals/rehearsals-sql.ts';
import { createConfig } from '../../server/platform/config.ts';
import { createMetrics } from '../../server/platform/metrics.ts';
import { parseNetworks } from '../../server/platform/network-policy.ts';
import { Histogram } from '../../server/platform/response-counter.ts';
import { PRODUCT } from '../support/conformance/operations.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import {
  expectJson,
  type Harness,
  manualClock,
  START_MS,
  startService,
} from '../support/harness/harness.ts';
import { newAskedWinner } from '../support/quizzes/asked-winner.ts';
import { RehearsalFixture } from '../support/rehearsals/rehearsal-fixture.ts';
import { startReceiver } from '../support/webhooks/webhook-receiver.ts';

const webhooks = { allowHttp: true, allowPrivate: parseNetworks('127.0.0.1') };
const EVENTS = ['stream.started', 'stream.ended', 'audience.minute', 'quiz.closed', 'winners'];
const BACKENDS = ['embedded', 'shared'] as const;

/** Removes all data that is due for removal. */
async function removeDueData({ store, clock }: Harness): Promise<void> {
  while (await store.removeRehearsal({ nowMs: clock.nowMs() }));
}

/** The lists of streams, with their counts: public, with a service token, and of the studio. */
async function readStreamLists(service: Harness): Promise<string> {
  const list = `${service.url}/api/v1/streams/?producer=${service.account.uuid}`;
  const token = { Authorization: `Token ${service.account.token}` };
  const answers = await Promise.all([
    fetch(list),
    fetch(list, { headers: token }),
    service.studio('GET', '/streams'),
  ]);
  return (await Promise.all(answers.map((response) => response.text()))).join('\n');
}

/** The metrics page. */
function metricsOf({ service }: Harness): Promise<string> {
  return createMetrics({
    ...service.stats,
    version: '1.2.3',
    sealLatency: new Histogram([1]),
    requests: () => service.stats.requests.counters,
    answersByDecision: () => Object.entries(service.stats.answers),
    backends: [],
    databasePendingCalls: () => 0,
    refusedConnections: () => 0,
    openFiles: () => 0,
    clockOffsetMs: () => 0,
  }).render();
}

describe.each(BACKENDS)('a rehearsal on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends, config: { webhooks } });
  }, 30_000);
  afterAll(() => service.close());

  const streamOf = async (id: string): Promise<StudioStream> =>
    expectJson(await service.studio('GET', `/streams/${id}`), 200);

  test('[P-32] a rehearsal has the products of its show, and shows none; its purchases leave those alone', async () => {
    const fixture = await RehearsalFixture.forNewShow(service);
    const products = (id: string) => `/streams/${id}/products`;
    const listOf = async (id: string) =>
      (await expectJson<{ results: Product[] }>(await service.studio('GET', products(id)), 200))
        .results;
    for (const name of ['Mug', 'Hat']) {
      const created = await service.studio('POST', products(fixture.showId), { ...PRODUCT, name });
      const { id } = await expectJson<Product>(created, 201);
      await expectJson(await service.studio('POST', `${products(fixture.showId)}/${id}/show`), 200);
    }
    const { streamId } = await fixture.start();
    const own = await listOf(fixture.showId);
    expect(own.map(({ name, shown }) => [name, shown])).toEqual([
      ['Mug', false],
      ['Hat', true],
    ]);
    const copies = await listOf(streamId);
    expect(copies).toEqual(own.map((product) => ({ ...product, shown: false })));
    const data = { text: 'bought a mug', productId: own[0]?.id };
    const bought = await service.studio('POST', `/streams/${streamId}/events`, {
      type: 'purchase',
      data,
    });
    await expectJson(bought, 201);
    expect((await listOf(streamId)).map(({ stock }) => stock)).toEqual([2, 3]);
    expect(await listOf(fixture.showId)).toEqual(own);
    for (const name of ['Pen', 'Bag']) {
      const added = await service.studio('POST', products(streamId), { ...PRODUCT, name });
      await expectJson(added, 201);
    }
    const names = (await listOf(streamId)).map(({ name }) => name);
    expect(names).toEqual(['Mug', 'Hat', 'Pen', 'Bag']);
    await fixture.end();
  });

  test('[Y-1] [Y-3] a rehearsal is a stream of its own with the drafts of the show in order', async () => {
    const quizzes = ['First?', 'Second?', 'Third?'].map((question) => ({ question }));
    const fixture = await RehearsalFixture.forNewShow(service, ...quizzes);
    const { showId } = fixture;
    const urls = { hls_url: 'https://cdn.example/live.m3u8' };
    const fields = { ...urls, latencyAllowance: 1_500, recording: true };
    await expectJson(await service.studio('PATCH', `/streams/${showId}`, fields), 200);
    const [first, , third] = await fixture.quizzesOf(showId);
    await expectJson(await service.studio('POST', `/quizzes/${first?.id}/publish`), 200);
    const second = (await fixture.quizzesOf(showId))[1];
    const order = [third?.id, second?.id];
    await expectJson(await service.studio('POST', `/streams/${showId}/rundown`, { order }), 200);
    const settings = { viewers: 1, latencyMs: 10, lossShare: 0, botShare: 0.5, lateShare: 0.25 };
    const made = await fixture.start(settings);
    expect(rehearsalSchema.strict().parse(made)).toEqual({
      streamId: expect.any(String),
      rehearsalOf: showId,
      state: 'running',
      settings,
      crowd: null,
      created: service.clock.nowMs(),
      endsAt: service.clock.nowMs() + REHEARSAL_LENGTH_MS,
      ended: null,
      removedAt: service.clock.nowMs() + REHEARSAL_RETENTION_MS,
    });
    expect(await streamOf(made.streamId)).toMatchObject({
      ...urls,
      title: 'Friday quiz night',
      latencyAllowance: 1_500,
      recording: false,
      unlisted: true,
      status: 'CREATED',
      rehearsalOf: showId,
    });
    const copies = await fixture.quizzesOf(made.streamId);
    expect(copies.map(({ question, state }) => [question, state])).toEqual([
      ['Third?', 'draft'],
      ['Second?', 'draft'],
    ]);
    // The show itself is unchanged.
    expect(await fixture.quizzesOf(showId)).toHaveLength(3);
    await fixture.end();
  });

  test('[Y-3] a rehearsal has the settings of its show and no recording', async () => {
    const fixture = await RehearsalFixture.forNewShow(service);
    const { streamId } = await fixture.start();
    for (const change of [{ recording: true }, { unlisted: false }, { title: 'Another' }]) {
      expect((await service.studio('PATCH', `/streams/${streamId}`, change)).status).toBe(409);
    }
    expect(await streamOf(streamId)).toMatchObject({ recording: false, unlisted: true });
    await fixture.end();
  });

  test('[Y-2] a rehearsal is in no list, count or metric', async () => {
    const fixture = await RehearsalFixture.forNewShow(service);
    const before = await readStreamLists(service);
    const { streamId } = await fixture.start({ viewers: 2 });
    await service.studio('POST', `/streams/${streamId}/start`);
    const viewer = await service.viewer(streamId);
    await viewer.post(`/api/v1/view-counts/${streamId}`);
    expect(await readStreamLists(service)).toBe(before);
    const metrics = await metricsOf(service);
    expect(metrics.includes('fourbeat_rehearsals 1\n')).toBe(true);
    for (const id of [streamId, fixture.showId]) expect(metrics.includes(id)).toBe(false);
    // The rehearsal can be read by id, like an unlisted stream.
    const detail = await fetch(`${service.url}/api/v1/streams/${streamId}/`);
    const known = await expectJson<object>(detail, 200);
    expect(Object.keys(known).sort()).toEqual(['dash_url', 'hls_url', 'id', 'producer', 'status']);
    await fixture.end();
    expect(await readStreamLists(service)).toBe(before);
    expect((await metricsOf(service)).includes('fourbeat_rehearsals 0\n')).toBe(true);
  });

  test('[Y-2] a rehearsal causes no webhook deliveries and no report', async () => {
    const receiver = startReceiver();
    const body = { url: receiver.url, events: EVENTS };
    const made = await expectJson<{ id: string }>(
      await service.studio('POST', '/webhooks', body),
      201,
    );
    const fixture = await RehearsalFixture.forNewShow(service, { duration: 1_000 });
    const { streamId } = await fixture.start({ viewers: 1 });
    // The same happens in a show and in its rehearsal; only the show causes deliveries.
    for (const id of [fixture.showId, streamId]) {
      await expectJson(await service.studio('POST', `/streams/${id}/start`), 200);
      const [draft] = await fixture.quizzesOf(id);
      const publish = await service.studio('POST', `/quizzes/${draft?.id}/publish`);
      const quiz = await expectJson<{ id: string; closeInterval: number }>(publish, 200);
      const viewer = await service.viewer(id);
      expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(204);
    }
    await service.advance(8);
    for (const id of [fixture.showId, streamId]) {
      await expectJson(await service.studio('POST', `/streams/${id}/request-winners`), 201);
    }
    await service.advance(6);
    service.pass(60_000);
    await service.advance(4);
    for (const id of [fixture.showId, streamId]) {
      await expectJson(await service.studio('POST', `/streams/${id}/end`), 200);
    }
    await service.advance(1);
    for (let times = 0; times < 8; times++) await service.service.sendWebhooks();
    const types = new Set(receiver.received.map(({ body: text }) => JSON.parse(text).type));
    expect([...types].sort()).toEqual([...EVENTS].sort());
    const texts = receiver.received.map(({ body: text }) => text).join('\n');
    expect(texts).toContain(fixture.showId);
    expect(texts).not.toContain(streamId);
    const log = await service.studio('GET', `/webhooks/${made.id}/deliveries?limit=100`);
    expect(await log.text()).not.toContain(streamId);
    await service.service.makeReports();
    const report = await service.studio('GET', `/streams/${streamId}/report`);
    expect(await report.text()).not.toContain('"state":"ready"');
    await fixture.end();
    await service.studio('DELETE', `/webhooks/${made.id}`);
    await receiver.stop();
  }, 20_000);

  test('[Y-9] a rehearsal cannot be rehearsed', async () => {
    const fixture = await RehearsalFixture.forNewShow(service);
    const { streamId } = await fixture.start();
    const path = `/streams/${streamId}/rehearsals`;
    expect((await service.studio('POST', path, { viewers: 1 })).status).toBe(409);
    await fixture.end();
  });

  test('[Y-9] a show has one running rehearsal, and an account at most three on a node', async () => {
    const fixtures: RehearsalFixture[] = [];
    for (let one = 0; one < REHEARSALS_PER_NODE_AND_ACCOUNT_MAX; one++) {
      fixtures.push(await RehearsalFixture.forNewShow(service));
      await fixtures.at(-1)?.start({ viewers: 1 });
    }
    expect((await fixtures[0]?.create())?.status).toBe(409);
    const another = await RehearsalFixture.forNewShow(service);
    const full = await another.create();
    expect(full.status).toBe(409);
    expect(await full.text()).toContain('Your account already runs 3 rehearsals');
    expect((await another.current()).status).toBe(404);
    await fixtures[0]?.end();
    await another.start({ viewers: 1 });
    for (const fixture of [another, ...fixtures.slice(1)]) {
      expect((await fixture.end()).status).toBe(204);
    }
  });

  test('[Y-9] one rehearsal starts when two are created concurrently', async () => {
    const fixture = await RehearsalFixture.forNewShow(service);
    const both = await Promise.all([fixture.create(), fixture.create()]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    const { streamId } = await expectJson<Rehearsal>(await fixture.current(), 200);
    const started = both.find(({ status }) => status === 201);
    expect(await started?.json()).toMatchObject({ streamId });
    expect(
      (await Promise.all([fixture.end(), fixture.end()])).map(({ status }) => status).sort(),
    ).toEqual([204, 404]);
  });

  test('[Y-9] a node has at most four rehearsals, also when they are created concurrently', async () => {
    const shows = await Promise.all(
      Array.from({ length: 2 * REHEARSALS_PER_NODE_MAX }, async () => {
        const { token } = await service.createAccount(`${randomUUID()}@example.org`);
        const made = await service.studio('POST', '/streams', { title: 'A show' }, { token });
        const { id } = await expectJson<StudioStream>(made, 201);
        return { path: `/streams/${id}/rehearsals`, token };
      }),
    );
    const responses = await Promise.all(
      shows.map(({ path, token }) => service.studio('POST', path, { viewers: 1 }, { token })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(REHEARSALS_PER_NODE_MAX);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(REHEARSALS_PER_NODE_MAX);
    for (const { path, token } of shows) {
      await service.studio('DELETE', `${path}/current`, undefined, { token });
    }
  });

  test('[Y-1] [Y-4] [R-11] a repeated request creates one rehearsal and starts its viewers once', async () => {
    const fixture = await RehearsalFixture.forNewShow(service);
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await expectJson<Rehearsal>(await fixture.create({}, key), 201);
    expect(await expectJson<Rehearsal>(await fixture.create({}, key), 201)).toEqual(first);
    expect((await metricsOf(service)).includes('fourbeat_rehearsals 1\n')).toBe(true);
    service.pass(LOST_AFTER_MS + 1_000);
    expect(await expectJson<Rehearsal>(await fixture.create({}, key), 201)).toEqual(first);
    await fixture.end();
    // A repeat does not start the viewers again either.
    await service.advance(1);
    expect((await fixture.create({}, key)).status).toBe(201);
    expect((await metricsOf(service)).includes('fourbeat_rehearsals 0\n')).toBe(true);
    expect((await fixture.current()).status).toBe(404);
  });

  test.each([
    [{ viewers: 0 }, 'viewers'],
    [{ viewers: 501 }, 'viewers'],
    [{ viewers: 1.5 }, 'viewers'],
    [{ viewers: 1, latencyMs: 10_001 }, 'latencyMs'],
    [{ viewers: 1, lossShare: 0.51 }, 'lossShare'],
    [{ viewers: 1, botShare: 1.01 }, 'botShare'],
    [{ viewers: 1, lateShare: -0.1 }, 'lateShare'],
    [{ viewers: 1, more: 1 }, 'more'],
  ])('[Y-4] [Y-5] [P-3] a rehearsal with %p gets 400, which names %s', async (body, member) => {
    const id = await service.createStream();
    const response = await service.studio('POST', `/streams/${id}/rehearsals`, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(member);
  });

  test('[Y-10] a rehearsal is removed with all its data when ended', async () => {
    const fixture = await RehearsalFixture.forNewShow(service, { duration: 600_000 }, {});
    const products = `/streams/${fixture.showId}/products`;
    await expectJson(await service.studio('POST', products, PRODUCT), 201);
    const { streamId } = await fixture.start({ viewers: 2 });
    await newAskedWinner(service, streamId);
    const [draft] = await fixture.quizzesOf(streamId);
    const publish = await service.studio('POST', `/quizzes/${draft?.id}/publish`);
    const quiz = await expectJson<{ id: string; closeInterval: number }>(publish, 200);
    const viewer = await service.viewer(streamId);
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(204);
    await viewer.post(`/api/v1/view-counts/${streamId}`);
    await service.advance(4);
    expect((await fixture.end()).status).toBe(204);
    expect((await fixture.current()).status).toBe(404);
    expect((await fixture.end()).status).toBe(404);
    await service.advance(1);
    await removeDueData(service);
    expect((await service.studio('GET', `/streams/${streamId}`)).status).toBe(404);
    expect((await service.studio('GET', `/quizzes/${quiz.id}`)).status).toBe(404);
    expect((await fetch(`${service.url}/api/v1/streams/${streamId}/`)).status).toBe(404);
    expect((await answer(viewer, quiz, 'Mars')).status).toBeOneOf([404, 409]);
    // Seats of the removed stream are still leased. A new viewer gets 404, and another show's its seat.
    const show = await service.createStream();
    const tokens = [streamId, show].map((stream_id) =>
      fetch(`${service.url}/api/v1/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ stream_id, unique_user_identifier: 'late' }),
      }),
    );
    expect((await Promise.all(tokens)).map(({ status }) => status)).toEqual([404, 200]);
    // Its tokens stay valid for a while and may write seats, which are removed later.
    await viewer.post(`/api/v1/view-counts/${streamId}`);
    await service.advance(4);
    service.pass(11 * 60_000);
    await service.advance(1);
    await removeDueData(service);
    if (backends === 'embedded') expect(tablesWith(service, streamId)).toEqual([]);
  });

  test('[Y-8] a rehearsal ends 4 h after its start, also with a later scheduled end', async () => {
    const fixture = await RehearsalFixture.forNewShow(service);
    const { streamId, endsAt } = await fixture.start();
    const endAt = async (at: number) =>
      expectJson<StudioStream>(
        await service.studio('POST', `/streams/${streamId}/end`, { at }),
        200,
      );
    expect((await endAt(endsAt - 1)).endsAt).toBe(endsAt - 1);
    expect((await endAt(endsAt + 1)).endsAt).toBe(endsAt);
    await fixture.end();
  });

  test('[Y-10] a rehearsal is removed after 24 hours in any state', async () => {
    const fixture = await RehearsalFixture.forNewShow(service, {});
    const { streamId } = await fixture.start();
    service.pass(REHEARSAL_LENGTH_MS);
    await service.advance(2);
    expect((await streamOf(streamId)).status).toBe('ENDED');
    service.pass(REHEARSAL_RETENTION_MS - REHEARSAL_LENGTH_MS);
    await service.advance(1);
    expect((await fixture.current()).status).toBe(404);
    await removeDueData(service);
    expect((await service.studio('GET', `/streams/${streamId}`)).status).toBe(404);
  });
});

/** Tables with a text in any column, except idempotency keys, which are stored for a day. */
function tablesWith({ directory }: Harness, text: string): string[] {
  const database = new Database(join(directory, 'record.sqlite'), { readonly: true });
  try {
    const tables = database
      .query<{ name: string }, []>(`select name from sqlite_master where type = 'table'`)
      .all();
    expect(tables.length).toBeGreaterThan(25);
    return tables.flatMap(({ name }) => {
      if (name === 'idempotency_keys') return [];
      const rows = database.query(`select * from ${name}`).all();
      return JSON.stringify(rows).includes(text) ? [name] : [];
    });
  } finally {
    database.close();
  }
}

test.each(BACKENDS)(
  '[Y-6] [Y-8] [Y-9] a rehearsal of a dead node is lost and can be replaced, on %s backends',
  async (backends) => {
    const directory = mkdtempSync(join(tmpdir(), 'fourbeat-rehearsal-'));
    const first = await startService({ backends, directory });
    const fixture = await RehearsalFixture.forNewShow(first);
    const { streamId } = await fixture.start({ viewers: 2 });
    const another = () => startService({ backends, directory, clock: manualClock(START_MS) });
    // An embedded service starts after the first one ended; with shared backends both run.
    if (backends === 'embedded') await first.close();
    const second = await another();
    try {
      const init = { token: first.account.token };
      const path = `/streams/${fixture.showId}/rehearsals`;
      const read = async () =>
        expectJson<Rehearsal>(await second.studio('GET', `${path}/current`, undefined, init), 200);
      expect((await read()).state).toBe('running');
      if (backends === 'shared') await first.close();
      second.pass(LOST_AFTER_MS + 1_000);
      expect(await read()).toMatchObject({ streamId, state: 'lost', ended: expect.any(Number) });
      const again = await second.studio('POST', path, { viewers: 1 }, init);
      const next = await expectJson<Rehearsal>(again, 201);
      expect(next.streamId).not.toBe(streamId);
      expect(await read()).toMatchObject({ streamId: next.streamId, state: 'running' });
      const former = await second.studio('GET', `/streams/${streamId}`, undefined, init);
      expect(await expectJson<StudioStream>(former, 200)).toMatchObject({ status: 'ENDED' });
    } finally {
      await second.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
  30_000,
);

test('[Y-4] a node without the needed roles rejects a rehearsal and names them', async () => {
  const roles = new Set([...createConfig().roles].filter((role) => role !== 'polls'));
  await using service = await startService({ config: { roles } });
  const id = await service.createStream();
  const refused = await service.studio('POST', `/streams/${id}/rehearsals`, { viewers: 1 });
  expect(refused.status).toBe(409);
  expect(await refused.text()).toContain('polls');
});
