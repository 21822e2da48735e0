import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { INTERVAL_MS } from '../../protocol/interval.ts';
import {
  type Delivery,
  type DeliveryType,
  type Webhook,
  webhookDataSchemas,
} from '../../protocol/webhooks.ts';
import { parseNetworks } from '../../server/platform/network-policy.ts';
import { openApiDocument } from '../../server/web/openapi.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { expectJson, type Harness, startService } from '../support/harness/harness.ts';
import { Contract } from '../support/openapi/contract.ts';
import { newMember } from '../support/studio/user-agent.ts';
import { type Receiver, startReceiver } from '../support/webhooks/webhook-receiver.ts';

type Created = Webhook & { secret: string };
interface Log {
  readonly results: Delivery[];
  readonly next: string | null;
}

const contract = new Contract(openApiDocument('1.2.3'));
const webhooks = { allowHttp: true, allowPrivate: parseNetworks('127.0.0.1') };

describe.each(['embedded', 'shared'] as const)('webhooks on %s backends', (backends) => {
  let service: Harness;
  const receivers: Receiver[] = [];
  beforeAll(async () => {
    service = await startService({ backends, config: { webhooks } });
  }, 30_000);
  afterAll(() => service.close());
  afterEach(async () => {
    const { results } = await listAll();
    for (const { id } of results) await service.studio('DELETE', `/webhooks/${id}`);
    await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
  });

  const listAll = async () =>
    expectJson<{ results: Webhook[] }>(await service.studio('GET', '/webhooks'), 200);
  const receiver = (port?: number) => {
    const started = startReceiver(port);
    receivers.push(started);
    return started;
  };
  const create = async (fields: Record<string, unknown> = {}): Promise<Created> => {
    const body = { url: 'https://hooks.example.org/', events: ['stream.started'], ...fields };
    return expectJson(await service.studio('POST', '/webhooks', body), 201);
  };
  const post = async <T>(path: string, status: number): Promise<T> =>
    expectJson(await service.studio('POST', `/webhooks/${path}`), status);
  const readLog = async (id: string, query = ''): Promise<Log> =>
    expectJson(await service.studio('GET', `/webhooks/${id}/deliveries${query}`), 200);
  const rejectionDetail = async (body: Record<string, unknown>): Promise<string> => {
    const valid = { url: 'https://hooks.example.org/', events: ['winners'] };
    const response = await service.studio('POST', '/webhooks', { ...valid, ...body });
    return (await expectJson<{ detail: string }>(response, 400)).detail;
  };
  const isSigned = (secret: string, { headers, body, id }: Receiver['received'][number]) => {
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    return headers['webhook-signature']
      ?.split(' ')
      .includes(new StandardWebhook(secret).sign(id, at, body));
  };

  test('[H-1] [H-2] a new webhook is listed, and only the first response has its secret', async () => {
    const { secret, ...webhook } = await create();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: 'https://hooks.example.org/',
      events: ['stream.started'],
      enabled: true,
      created: service.clock.nowMs(),
      failingSince: null,
      disabledReason: null,
    });
    const { secret: _, ...second } = await create({ enabled: false });
    expect((await listAll()).results).toEqual([second, webhook]);
    const sameKey = { headers: { 'Idempotency-Key': randomUUID() } };
    const body = { url: 'https://hooks.example.org/once', events: ['winners'] };
    const statuses: number[] = [];
    for (let n = 0; n < 2; n++) {
      statuses.push((await service.studio('POST', '/webhooks', body, sameKey)).status);
    }
    expect(statuses).toEqual([201, 409]);
    expect((await listAll()).results).toHaveLength(3);
  });

  test('[H-2] an account has at most 20 webhooks', async () => {
    for (let n = 0; n < 20; n++) await create();
    const body = { url: 'https://hooks.example.org/', events: ['winners'] };
    expect((await service.studio('POST', '/webhooks', body)).status).toBe(409);
  });

  test('[H-3] a URL with credentials or a forbidden address gets 400', async () => {
    for (const url of [
      'https://user@hooks.example.org/',
      'https://user:password@hooks.example.org/',
      'https://:password@hooks.example.org/',
    ]) {
      expect(await rejectionDetail({ url })).toContain('user name');
    }
    for (const url of ['https://10.0.0.1/', 'http://127.0.0.2/', 'https://[::1]:8443/']) {
      expect(await rejectionDetail({ url })).toBe('url: must lead to a public address.');
    }
    const { id } = await create();
    const patched = await service.studio('PATCH', `/webhooks/${id}`, { url: 'https://10.0.0.1/' });
    expect(patched.status).toBe(400);
    expect(await rejectionDetail({ url: 'ftp://hooks.example.org/' })).toContain('url');
  });

  test('[H-5] events must be one or more known types, each once', async () => {
    for (const events of [[], ['test'], ['winners', 'winners'], ['quiz.opened'], 'winners', null]) {
      expect(await rejectionDetail({ events })).toContain('events');
    }
  });

  test('[H-4] a webhook is patched field by field, and deleted with its log', async () => {
    const { secret: _, ...webhook } = await create();
    const path = `/webhooks/${webhook.id}`;
    expect((await service.studio('PATCH', path, {})).status).toBe(400);
    const url = 'https://hooks.example.org/new';
    for (const patch of [{ url }, { events: ['winners', 'quiz.closed'] }, { enabled: false }]) {
      Object.assign(webhook, patch);
      expect(await expectJson<Webhook>(await service.studio('PATCH', path, patch), 200)).toEqual(
        webhook,
      );
    }
    expect((await service.studio('DELETE', path)).status).toBe(204);
    expect((await service.studio('DELETE', path)).status).toBe(404);
    expect((await service.studio('GET', `${path}/deliveries`)).status).toBe(404);
    expect((await listAll()).results).toEqual([]);
  });

  test('[H-5] [H-9] [H-23] each event of a show is delivered once, signed and as documented', async () => {
    const target = receiver();
    const events = ['stream.started', 'stream.ended', 'audience.minute', 'quiz.closed', 'winners'];
    const { secret } = await create({ url: `${target.url}hook?a=b`, events });
    const streamId = await service.createStream();
    await service.studio('POST', `/streams/${streamId}/start`);
    const viewer = await service.viewer(streamId);
    const quiz = await service.publishQuiz(streamId);
    expect((await answer(viewer, quiz)).status).toBe(204);
    await service.advance(quiz.closeInterval - service.interval() + 1);
    await service.studio('POST', `/streams/${streamId}/request-winners`);
    await service.advance(2);
    expect((await viewer.post(`/api/v1/quizzes/${streamId}/record-winner`)).status).toBe(204);
    await service.advance(4);
    await viewer.post(`/api/v1/view-counts/${streamId}`);
    const minute = 60_000 / INTERVAL_MS;
    await service.advance(minute - (service.interval() % minute));
    await service.studio('POST', `/streams/${streamId}/end`);
    await service.service.sendWebhooks();
    await service.service.sendWebhooks();
    const deliveries = target.received.map(({ body }) => JSON.parse(body));
    expect(deliveries.map(({ type }) => type).toSorted()).toEqual(events.toSorted());
    for (const { type, data, timestamp } of deliveries) {
      webhookDataSchemas[type as DeliveryType].strict().parse(data);
      expect(data.streamId).toBe(streamId);
      expect(new Date(timestamp).toISOString()).toBe(timestamp);
    }
    const dataOf = (name: string) => deliveries.find(({ type }) => type === name).data;
    expect(dataOf('winners').count).toBe(1);
    expect(dataOf('quiz.closed')).toMatchObject({ id: quiz.id, answer: 'Jupiter' });
    expect(dataOf('audience.minute').peak).toBe(1);
    for (const request of target.received) {
      expect(request.path).toBe('/hook');
      expect(request.headers['content-type']).toBe('application/json');
      expect(isSigned(secret, request)).toBe(true);
      contract.checkDelivery(request.headers, request.body);
    }
    expect(new Set(target.received.map(({ id }) => id)).size).toBe(5);
  });

  test('[H-10] for a day after a rotation the old and the new secret sign deliveries', async () => {
    const target = receiver();
    const { id, secret } = await create({ url: target.url });
    const { secret: newSecret, ...webhook } = await post<Created>(`${id}/rotate-secret`, 200);
    expect(webhook).toEqual((await listAll()).results[0] as Webhook);
    expect(newSecret).not.toBe(secret);
    const secretsOfNextDelivery = async () => {
      await post(`${id}/test`, 201);
      await service.service.sendWebhooks();
      const last = target.received.at(-1);
      return last && [secret, newSecret].filter((candidate) => isSigned(candidate, last));
    };
    expect(await secretsOfNextDelivery()).toEqual([secret, newSecret]);
    service.pass(24 * 3600_000);
    expect(await secretsOfNextDelivery()).toEqual([newSecret]);
    const sameKey = { headers: { 'Idempotency-Key': randomUUID() } };
    const path = `/webhooks/${id}/rotate-secret`;
    const rotate = () => service.studio('POST', path, undefined, sameKey);
    expect([(await rotate()).status, (await rotate()).status]).toEqual([200, 409]);
  });

  test('[H-11] [H-18] a test delivery is sent, and the log has its attempt', async () => {
    const target = receiver();
    const { id } = await create({ url: target.url });
    const made = await post<Delivery>(`${id}/test`, 201);
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'test',
      state: 'pending',
      created: service.clock.nowMs(),
      nextAttempt: service.clock.nowMs(),
      body: expect.any(String),
      attempts: [],
    });
    expect(JSON.parse(made.body)).toEqual({
      type: 'test',
      timestamp: new Date(service.clock.nowMs()).toISOString(),
      data: { webhookId: id },
    });
    await service.service.sendWebhooks();
    expect(target.received.map(({ id, body }) => [id, body])).toEqual([[made.id, made.body]]);
    expect((await readLog(id)).results).toEqual([
      {
        ...made,
        state: 'delivered',
        nextAttempt: null,
        attempts: [{ at: service.clock.nowMs(), status: 204, error: null, ms: expect.any(Number) }],
      },
    ]);
    await service.studio('PATCH', `/webhooks/${id}`, { enabled: false });
    expect((await service.studio('POST', `/webhooks/${id}/test`)).status).toBe(409);
  });

  test('[H-18] pages of the log have each delivery once, newest first', async () => {
    const { id } = await create({ url: receiver().url });
    const made: Delivery[] = [];
    for (let n = 0; n < 5; n++) {
      if (n === 3) service.pass(1);
      made.push(await post<Delivery>(`${id}/test`, 201));
    }
    const seen: Delivery[] = [];
    let query = '?limit=2';
    for (;;) {
      const page = await readLog(id, query);
      seen.push(...page.results);
      expect(page.results.length).toBeLessThanOrEqual(2);
      if (page.next === null) break;
      query = `?limit=2&before=${page.next}`;
    }
    const ids = (deliveries: readonly Delivery[]) => deliveries.map((one) => one.id);
    expect(ids(seen).toSorted()).toEqual(ids(made).toSorted());
    expect(seen.map(({ created }) => created)).toEqual(
      seen.map(({ created }) => created).toSorted((a, b) => b - a),
    );
    expect((await readLog(id)).results).toEqual(seen);
    for (const invalid of ['limit=0', 'limit=101', 'limit=x', 'before=x']) {
      const response = await service.studio('GET', `/webhooks/${id}/deliveries?${invalid}`);
      expect([invalid, response.status]).toEqual([invalid, 400]);
    }
    const unknown = `/webhooks/${id}/deliveries?before=${randomUUID()}`;
    expect((await service.studio('GET', unknown)).status).toBe(404);
  });

  test('[H-14] a failed delivery is retried with its id, signed again, until it succeeds', async () => {
    const down = receiver();
    const { id } = await create({ url: down.url });
    await down.stop();
    const { id: delivery } = await post<Delivery>(`${id}/test`, 201);
    await service.service.sendWebhooks();
    expect((await readLog(id)).results[0]?.attempts).toEqual([
      { at: service.clock.nowMs(), status: null, error: 'connection', ms: expect.any(Number) },
    ]);
    const up = receiver(down.port);
    up.answer = () => new Response('not yet', { status: 503 });
    service.pass(5_500); // the first delay, 5 s, and its jitter
    await service.service.sendWebhooks();
    up.answer = () => new Response(null, { status: 200 });
    service.pass(33_000); // the second delay, 30 s, and its jitter
    await service.service.sendWebhooks();
    expect(up.received.map((one) => one.id)).toEqual([delivery, delivery]);
    const [deliveries] = (await readLog(id)).results;
    expect(deliveries).toMatchObject({ id: delivery, state: 'delivered', nextAttempt: null });
    expect(deliveries?.attempts.map(({ status }) => status)).toEqual([null, 503, 200]);
    const signatures = up.received.map(({ headers }) => headers['webhook-signature']);
    expect(new Set(signatures).size).toBe(2);
  });

  test('[H-15] a 410 disables the webhook, and its other deliveries fail', async () => {
    const gone = receiver();
    gone.answer = () => new Response(null, { status: 410 });
    const { id } = await create({ url: gone.url });
    for (let n = 0; n < 5; n++) await post(`${id}/test`, 201);
    await service.service.sendWebhooks();
    expect(gone.received.length).toBeLessThanOrEqual(2);
    expect((await listAll()).results[0]).toMatchObject({ enabled: false, disabledReason: 'gone' });
    const { results } = await readLog(id);
    expect(results.map(({ state }) => state)).toEqual(Array(5).fill('failed'));
  });

  test('[H-16] a slow receiver does not delay others', async () => {
    const [slow, quick] = [receiver(), receiver()];
    const release = Promise.withResolvers<void>();
    slow.answer = () => release.promise.then(() => new Response(null, { status: 204 }));
    const toSlow = await create({ url: slow.url });
    const toQuick = await create({ url: quick.url });
    for (let n = 0; n < 6; n++) await post(`${toSlow.id}/test`, 201);
    const sending = service.service.sendWebhooks();
    await slow.until(2);
    for (let n = 0; n < 6; n++) await post(`${toQuick.id}/test`, 201);
    void service.service.sendWebhooks();
    await quick.until(6);
    expect(slow.received).toHaveLength(2);
    release.resolve();
    await sending;
    await service.service.sendWebhooks();
    expect(slow.received).toHaveLength(6);
    expect((await readLog(toSlow.id)).results.every(({ state }) => state === 'delivered')).toBe(
      true,
    );
  });

  test('[H-16] a node sends at most 8 deliveries to failing webhooks at a time', async () => {
    const bad = Array.from({ length: 10 }, () => receiver());
    const good = receiver();
    const { id } = await create({ url: good.url });
    const failing: string[] = [];
    for (const target of bad) {
      target.answer = () => new Response(null, { status: 500 });
      failing.push((await create({ url: target.url })).id);
    }
    for (const webhook of failing) await post(`${webhook}/test`, 201);
    await service.service.sendWebhooks();
    const release = Promise.withResolvers<void>();
    for (const target of bad)
      target.answer = () => release.promise.then(() => new Response(null, { status: 204 }));
    const retriedCount = () => bad.filter(({ received }) => received.length > 1).length;
    service.pass(6_000);
    const sending = service.service.sendWebhooks();
    const eightRetried = Promise.withResolvers<void>();
    const poll = setInterval(() => retriedCount() >= 8 && eightRetried.resolve(), 5);
    await eightRetried.promise;
    clearInterval(poll);
    await post(`${id}/test`, 201);
    void service.service.sendWebhooks();
    await good.until(1);
    expect(retriedCount()).toBe(8);
    release.resolve();
    await sending;
    await service.service.sendWebhooks();
    expect(retriedCount()).toBe(10);
  });

  test('[H-19] a retry sends a delivered event again, and is 404 under another webhook', async () => {
    const target = receiver();
    const { id } = await create({ url: target.url });
    const made = await post<Delivery>(`${id}/test`, 201);
    await service.service.sendWebhooks();
    const path = `${id}/deliveries/${made.id}/retry`;
    expect(await post<Delivery>(path, 200)).toMatchObject({ id: made.id, state: 'pending' });
    await service.service.sendWebhooks();
    expect(target.received.map((one) => one.id)).toEqual([made.id, made.id]);
    const other = await create({ url: target.url });
    const pathOfOther = `/webhooks/${other.id}/deliveries/${made.id}/retry`;
    expect((await service.studio('POST', pathOfOther)).status).toBe(404);
  });

  test('[H-4] [H-18] only owners can list webhooks and deliveries', async () => {
    const { id } = await create();
    for (const role of ['host', 'moderator'] as const) {
      const { browser } = await newMember(service, role);
      for (const path of ['/webhooks', `/webhooks/${id}/deliveries`]) {
        const headers = { Cookie: browser.cookie ?? '' };
        expect((await fetch(`${service.url}/studio/v1${path}`, { headers })).status).toBe(401);
      }
    }
    const { browser } = await newMember(service, 'owner');
    const headers = { Cookie: browser.cookie ?? '' };
    expect((await fetch(`${service.url}/studio/v1/webhooks`, { headers })).status).toBe(200);
  });
});

test('[H-12] [H-3] by default webhooks allow no http URL and no private address', async () => {
  await using target = startReceiver();
  await using service = await startService();
  const body = { url: target.url, events: ['winners'] };
  const rejected = await service.studio('POST', '/webhooks', body);
  expect((await expectJson<{ detail: string }>(rejected, 400)).detail).toBe('url: must be https.');
  // The address of a host name is checked when it is resolved.
  const named = { ...body, url: `https://localhost:${target.port}/` };
  const { id } = await expectJson<Created>(await service.studio('POST', '/webhooks', named), 201);
  await service.studio('POST', `/webhooks/${id}/test`);
  await service.service.sendWebhooks();
  const path = `/webhooks/${id}/deliveries`;
  const { results } = await expectJson<Log>(await service.studio('GET', path), 200);
  expect(results[0]?.attempts[0]).toMatchObject({ status: null, error: 'address' });
  expect(target.received).toEqual([]);
});

test('[H-22] metrics count attempts and contain neither URLs nor secrets', async () => {
  await using target = startReceiver();
  await using service = await startService({ config: { webhooks } });
  const body = { url: `${target.url}very-secret-path`, events: ['winners'] };
  const { id } = await expectJson<Created>(await service.studio('POST', '/webhooks', body), 201);
  await service.studio('POST', `/webhooks/${id}/test`);
  await service.service.sendWebhooks();
  target.answer = () => new Response(null, { status: 500 });
  for (let n = 0; n < 2; n++) await service.studio('POST', `/webhooks/${id}/test`);
  await service.service.sendWebhooks();
  const readings = service.service.stats.additional.filter(({ name }) => name.includes('webhook'));
  expect(readings.map(({ name }) => name)).toEqual(['fourbeat_webhook_deliveries_total']);
  expect([...(readings[0]?.read() ?? [])]).toEqual([
    [1, { outcome: 'delivered' }],
    [2, { outcome: 'retried' }],
  ]);
});

test('[H-17] two nodes send each delivery once', async () => {
  await using target = startReceiver();
  await using one = await startService({ backends: 'shared', config: { webhooks } });
  const options = { backends: 'shared', directory: one.directory, clock: one.clock } as const;
  await using two = await startService({ ...options, config: { webhooks } });
  // The first responses wait until both nodes have requests in flight.
  const answered = Promise.withResolvers<void>();
  target.answer = () => answered.promise.then(() => new Response(null, { status: 204 }));
  for (let n = 0; n < 12; n++) {
    const body = { url: `${target.url}${n}`, events: ['winners'] };
    const made = await one.studio('POST', '/webhooks', body);
    const { id } = await expectJson<Created>(made, 201);
    for (let test = 0; test < 4; test++) await one.studio('POST', `/webhooks/${id}/test`);
  }
  const sending = setInterval(() => {
    for (const { service } of [one, two]) void service.sendWebhooks();
  }, 10);
  await target.until(24);
  answered.resolve();
  await target.until(48);
  clearInterval(sending);
  await Promise.all([one.service.sendWebhooks(), two.service.sendWebhooks()]);
  expect(target.received).toHaveLength(48);
  expect(new Set(target.received.map(({ id }) => id)).size).toBe(48);
  const work = await one.store.findWebhookWork({ nowMs: one.clock.nowMs() + 60_000 });
  expect(work).toEqual({ undispatched: false, due: false });
  const byNode = [one, two].map(({ service }) => {
    const reading = service.stats.additional.find(({ name }) => name.includes('webhook'));
    return [...(reading?.read() ?? [])].map(([count, labels]) => [labels?.outcome, count]);
  });
  for (const outcomes of byNode) expect(outcomes).toEqual([['delivered', expect.any(Number)]]);
}, 30_000);
