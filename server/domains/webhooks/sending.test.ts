import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Attempt } from '../../../protocol/webhooks.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/backends/postgres.ts';
import {
  openInPostgres,
  openInSqlite,
  PRODUCER,
  WebhookFixture,
} from '../../../test/support/webhooks/webhook-fixture.ts';
import { type Claimed, LEASE_MS } from './sending-sql.ts';

let postgres: PostgresServer;
let databases = 0;
beforeAll(async () => {
  postgres = await startPostgres({ fsync: false });
}, 30_000);
afterAll(() => postgres.stop());

const FIXTURES = [
  ['SQLite', openInSqlite],
  ['PostgreSQL', async () => openInPostgres(await postgres.createDatabase(`sent_${++databases}`))],
] as const;

const HOUR = 3600_000;
const DAY = 24 * HOUR;

describe.each(FIXTURES)('deliveries, in %s', (_, open) => {
  let fixture: WebhookFixture;
  const opened = async () => {
    fixture = await WebhookFixture.on(await open());
    return fixture.newWebhook('stream.started');
  };
  afterEach(() => fixture.close());

  const own = (id: string) => ({ id, account: PRODUCER });
  const ask = async (webhook: string) => {
    const input = { ...own(webhook), key: crypto.randomUUID(), nowMs: fixture.nowMs };
    return (await fixture.store.testWebhook(input)).id;
  };
  const claim = (room = 16, failingRoom = 8, node = fixture.store): Promise<Claimed[]> =>
    node.claimDeliveries({ lease: crypto.randomUUID(), room, failingRoom, nowMs: fixture.nowMs });
  const finish = (claimed: Claimed | undefined, attempt: Partial<Attempt>) => {
    if (!claimed) throw new Error('nothing was claimed');
    const { id, webhook, lease } = claimed;
    const answered: Attempt = { at: fixture.nowMs, status: null, error: null, ms: 3, ...attempt };
    const input = { id, webhook, lease, attempt: answered, jitter: 0, nowMs: fixture.nowMs };
    return fixture.store.finishDelivery(input);
  };
  /** Claims the one delivery that is due, and finishes it so. */
  const attempt = async (answer: Partial<Attempt>) => {
    const claimed = await claim();
    expect(claimed).toHaveLength(1);
    return finish(claimed[0], answer);
  };
  const isDue = async () => (await fixture.store.findWebhookWork({ nowMs: fixture.nowMs })).due;
  const webhookOf = async (id: string) =>
    (await fixture.store.listWebhooks({ account: PRODUCER })).find((one) => one.id === id);

  test('[H-14] one that fails is tried on its schedule, and then has failed', async () => {
    const webhook = await opened();
    await ask(webhook);
    const beganMs = fixture.nowMs;
    const delaysS = [5, 30, 120, 600, 3600, 3 * 3600, 6 * 3600, 12 * 3600];
    for (const delayS of delaysS) {
      expect(await attempt({ status: 503 })).toBe('retried');
      const [waiting] = await fixture.told(webhook);
      expect(waiting).toMatchObject({
        state: 'pending',
        nextAttempt: fixture.nowMs + delayS * 1_000,
      });
      fixture.nowMs += delayS * 1_000 - 1;
      expect(await isDue()).toBe(false);
      expect(await claim()).toEqual([]);
      fixture.nowMs += 1;
      expect(await isDue()).toBe(true);
    }
    expect(await attempt({ error: 'timeout' })).toBe('failed');
    const [failed] = await fixture.told(webhook);
    expect(failed).toMatchObject({ state: 'failed', nextAttempt: null });
    expect(failed?.attempts).toHaveLength(9);
    expect(failed?.attempts[0]).toEqual({ at: beganMs, status: 503, error: null, ms: 3 });
    expect(failed?.attempts[8]).toMatchObject({ status: null, error: 'timeout' });
    expect((await webhookOf(webhook))?.failingSince).toBe(beganMs);
    expect(await isDue()).toBe(false);
  });

  test('[H-14] one that succeeds is done, and all is well with its webhook again', async () => {
    const webhook = await opened();
    await ask(webhook);
    await attempt({ error: 'connection' });
    expect((await webhookOf(webhook))?.failingSince).toBe(fixture.nowMs);
    fixture.nowMs += 5_000;
    expect(await attempt({ status: 204 })).toBe('delivered');
    const [done] = await fixture.told(webhook);
    expect(done).toMatchObject({ state: 'delivered', nextAttempt: null });
    expect((await webhookOf(webhook))?.failingSince).toBeNull();
    expect(await isDue()).toBe(false);
  });

  test('[H-15] 410 disables the webhook, and what waits for it has failed', async () => {
    const webhook = await opened();
    const other = await fixture.newWebhook('stream.started');
    await ask(webhook);
    await ask(webhook);
    const kept = await ask(other);
    const claimed = (await claim()).filter((one) => one.webhook === webhook);
    expect(claimed).toHaveLength(2);
    expect(await finish(claimed[0], { status: 410 })).toBe('failed');
    expect(await webhookOf(webhook)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    // The other was being sent: what came of it changes nothing any more.
    expect(await finish(claimed[1], { status: 200 })).toBeNull();
    const states = (await fixture.told(webhook)).map(({ state, nextAttempt }) => [
      state,
      nextAttempt,
    ]);
    expect(states).toEqual([
      ['failed', null],
      ['failed', null],
    ]);
    expect((await fixture.told(other)).map(({ id, state }) => [id, state])).toEqual([
      [kept, 'pending'],
    ]);
    const refused = await ask(webhook).catch((error) => error);
    expect(refused).toMatchObject({ kind: 'conflict' });
    await fixture.store.patchWebhook({ ...own(webhook), patch: { enabled: true } });
    expect(await webhookOf(webhook)).toMatchObject({
      ...{ enabled: true, disabledReason: null, failingSince: null },
    });
  });

  test('[H-15] nothing but failures for three days disables it', async () => {
    const webhook = await opened();
    await ask(webhook);
    expect(await attempt({ status: 500 })).toBe('retried');
    const firstMs = fixture.nowMs;
    fixture.nowMs = firstMs + 3 * DAY - 1;
    expect(await attempt({ status: 500 })).toBe('retried');
    expect(await webhookOf(webhook)).toMatchObject({ enabled: true, failingSince: firstMs });
    fixture.nowMs += 30_000;
    expect(await attempt({ status: 500 })).toBe('failed');
    expect(await webhookOf(webhook)).toMatchObject({ enabled: false, disabledReason: 'failing' });
    expect((await fixture.told(webhook))[0]).toMatchObject({ state: 'failed', nextAttempt: null });
  });

  test('[H-16] two at once for a webhook, one while it fails, and those that fail get half', async () => {
    const good = await opened();
    const failing = await Promise.all([1, 2, 3].map(() => fixture.newWebhook('stream.started')));
    for (const webhook of [good, ...failing]) for (let n = 0; n < 4; n++) await ask(webhook);
    const first = await claim();
    expect(first).toHaveLength(8);
    for (const one of first) {
      await finish(one, one.webhook === good ? { status: 200 } : { status: 500 });
    }
    fixture.nowMs += 5_000;
    const second = await claim(16, 2);
    expect(second.map(({ isFailing }) => isFailing)).toEqual([false, false, true, true]);
    const failed = second.filter(({ isFailing }) => isFailing).map(({ webhook }) => webhook);
    expect(new Set(failed).size).toBe(2);
    // No place is left at the good one, and one failing webhook has its one place.
    expect(await claim(16, 2)).toHaveLength(1);
    expect(await claim(16, 2)).toEqual([]);
    await finish(second[0], { status: 200 });
    expect(await claim(16, 2)).toEqual([]);
    await ask(good);
    expect((await claim(1, 0)).map(({ webhook }) => webhook)).toEqual([good]);
  });

  test('[H-16] webhooks whose turn it is longest come first, and there is room for so many', async () => {
    await opened();
    const webhooks: string[] = [];
    for (let n = 0; n < 5; n++) {
      const webhook = await fixture.newWebhook('stream.started');
      webhooks.unshift(webhook);
      await ask(webhook);
      fixture.nowMs -= 1_000;
    }
    fixture.nowMs += 10_000;
    const claimed = await claim(3);
    expect(claimed.map(({ webhook }) => webhook)).toEqual(webhooks.slice(0, 3));
  });

  test('[H-17] one that is claimed is nobody else’s for 30 s, and then anybody’s', async () => {
    const webhook = await opened();
    const id = await ask(webhook);
    const [one, two] = fixture.nodes;
    const [dead] = await claim(16, 8, one);
    expect(dead?.id).toBe(id);
    fixture.nowMs += LEASE_MS - 1;
    expect(await claim(16, 8, two)).toEqual([]);
    fixture.nowMs += 1;
    const [again] = await claim(16, 8, two);
    expect(again).toMatchObject({ id, body: dead?.body });
    // The first was not dead after all: only what the second says counts.
    expect(await finish(dead, { status: 500 })).toBeNull();
    expect(await finish(again, { status: 200 })).toBe('delivered');
    expect((await fixture.told(webhook))[0]?.attempts).toHaveLength(1);
  });

  test('[H-17] one that is given back is due at once', async () => {
    const webhook = await opened();
    await ask(webhook);
    const [claimed] = await claim();
    if (!claimed) throw new Error('nothing was claimed');
    await fixture.store.releaseDelivery({ ...claimed, nowMs: fixture.nowMs });
    expect((await claim())[0]?.id).toBe(claimed.id);
  });

  test('[H-17] nodes that claim together claim each delivery once, and two of a webhook', async () => {
    const webhooks = [await opened()];
    for (let n = 0; n < 5; n++) webhooks.push(await fixture.newWebhook('stream.started'));
    for (const webhook of webhooks) for (let n = 0; n < 6; n++) await ask(webhook);
    const sent: string[] = [];
    for (let round = 0; sent.length < 36; round++) {
      expect(round).toBeLessThan(40);
      const claims = await Promise.all(
        [0, 1, 0, 1].map((node) => claim(5, 8, fixture.nodes[node])),
      );
      const claimed = claims.flat();
      const ofEach = Map.groupBy(claimed, ({ webhook }) => webhook).values();
      for (const ones of ofEach) expect(ones.length).toBeLessThanOrEqual(2);
      for (const one of claimed) {
        sent.push(one.id);
        expect(await finish(one, { status: 200 })).toBe('delivered');
      }
    }
    expect(new Set(sent).size).toBe(36);
  });

  test('[H-19] a retry is due at once, with the whole schedule before it', async () => {
    const webhook = await opened();
    const id = await ask(webhook);
    const retry = () =>
      fixture.store.retryDelivery({ ...own(webhook), delivery: id, nowMs: fixture.nowMs });
    const [claimed] = await claim();
    expect(await retry().catch((error) => error)).toMatchObject({ kind: 'conflict' });
    await finish(claimed, { status: 500 });
    expect(await isDue()).toBe(false);
    expect(await retry()).toMatchObject({ id, state: 'pending', nextAttempt: fixture.nowMs });
    await attempt({ status: 200 });
    expect(await isDue()).toBe(false);
    fixture.nowMs += DAY;
    expect((await retry()).attempts.map(({ status }) => status)).toEqual([500, 200]);
    await attempt({ status: 500 });
    expect((await fixture.told(webhook))[0]?.nextAttempt).toBe(fixture.nowMs + 5_000);
    await fixture.store.patchWebhook({ ...own(webhook), patch: { enabled: false } });
    expect(await retry().catch((error) => error)).toMatchObject({ kind: 'conflict' });
  });

  test('[H-20] the last 20 attempts are kept', async () => {
    const webhook = await opened();
    const id = await ask(webhook);
    for (let n = 1; n <= 25; n++) {
      await attempt({ status: 500 + n });
      await fixture.store.retryDelivery({ ...own(webhook), delivery: id, nowMs: fixture.nowMs });
    }
    const [told] = await fixture.told(webhook);
    expect(told?.attempts.map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, (_, n) => 506 + n),
    );
  });

  /** Deliveries made by the thousand, one ms after the other, from a moment on. */
  const many = (webhook: string, name: string, count: number, fromMs: number, isWaiting: boolean) =>
    fixture.run(
      `insert into deliveries (id, webhook, type, body, created, state, due)
       with recursive made(n) as (select 1 union all select n + 1 from made where n < ${count})
       select 'made-${name}' || n, '${webhook}', 'test', '{}', ${fromMs} + n,
         '${isWaiting ? 'pending' : 'delivered'}', ${isWaiting ? `${fromMs} + n` : 'null'}
       from made`,
    );
  const forget = async () => {
    const found = await fixture.store.findOldDeliveries({ nowMs: fixture.nowMs });
    await fixture.store.forgetDeliveries(found);
    return found.old.length + found.beyond.length;
  };
  const countOf = async (condition: string) =>
    Number((await fixture.run(`select count(*) as n from deliveries where ${condition}`))[0]?.n);

  test('[H-20] the log is bounded: by number, by age, and with its webhook', async () => {
    const webhook = await opened();
    const quiet = await fixture.newWebhook('winners');
    const { nowMs } = fixture;
    await many(webhook, 'a', 1_005, nowMs - 10_000, false);
    await many(quiet, 'b', 3, nowMs - 30 * DAY - 10, false);
    await many(quiet, 'c', 3, nowMs - 30 * DAY, false);
    await many('nobody', 'd', 4, nowMs - 10_000, false);
    await ask(webhook);
    expect(await forget()).toBe(5 + 3 + 4);
    expect(await countOf(`id like 'made-a%'`)).toBe(1_000);
    expect(await countOf(`id in ('made-a1', 'made-a5')`)).toBe(0);
    expect(await countOf(`id = 'made-a6'`)).toBe(1);
    expect(await countOf(`id like 'made-b%' or id like 'made-d%'`)).toBe(0);
    expect(await countOf(`id like 'made-c%'`)).toBe(3);
    expect(await countOf('due is not null')).toBe(1);
    expect(await forget()).toBe(0);
  });

  test('[H-20] of more than 10,000 that wait the oldest have failed', async () => {
    const webhook = await opened();
    await many(webhook, 'w', 10_003, fixture.nowMs - 20_000, true);
    expect(await forget()).toBe(3);
    expect(await countOf(`state = 'pending'`)).toBe(10_000);
    expect(
      await countOf(`state = 'failed' and due is null and id in ('made-w1', 'made-w2', 'made-w3')`),
    ).toBe(3);
  });

  test('[H-4] a webhook takes all with it that it was told', async () => {
    const webhook = await opened();
    await ask(webhook);
    await fixture.store.deleteWebhook(own(webhook));
    expect(await countOf('true')).toBe(0);
    const [row] = await fixture.run('select count(*) as n from subscriptions');
    expect(Number(row?.n)).toBe(0);
    const gone = await fixture.store
      .listDeliveries({
        ...{ ...own(webhook), before: null, limit: 1 },
      })
      .catch((error) => error);
    expect(gone).toMatchObject({ kind: 'not-found' });
  });
});
