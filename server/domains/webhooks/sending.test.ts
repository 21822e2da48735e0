import { afterEach, expect, test } from 'bun:test';
import type { Attempt } from '../../../protocol/webhooks.ts';
import {
  describeWebhooks,
  PRODUCER,
  type WebhookFixture,
} from '../../../test/support/webhooks/webhook-fixture.ts';
import { type ClaimedDelivery, LEASE_MS } from './sending-sql.ts';
import { activeSecrets } from './signing.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

describeWebhooks('webhook deliveries', (open) => {
  let fixture: WebhookFixture;
  const openWithWebhook = async () => {
    fixture = await open();
    return fixture.newWebhook('stream.started');
  };
  afterEach(() => fixture.close());

  const own = (id: string) => ({ id, account: PRODUCER });
  const queueTest = async (webhook: string) => {
    const input = { ...own(webhook), key: crypto.randomUUID(), nowMs: fixture.nowMs };
    return (await fixture.store.testWebhook(input)).id;
  };
  const claim = (
    limit = 16,
    failingLimit = 8,
    node = fixture.store,
    inFlightByAccount: Record<string, number> = {},
  ): Promise<ClaimedDelivery[]> => {
    const lease = crypto.randomUUID();
    const { nowMs } = fixture;
    return node.claimDeliveries({ lease, limit, failingLimit, inFlightByAccount, nowMs });
  };
  const finish = (claimed: ClaimedDelivery | undefined, attempt: Partial<Attempt>) => {
    if (!claimed) throw new Error('nothing was claimed');
    const { id, webhook, lease, url } = claimed;
    const answered: Attempt = { at: fixture.nowMs, status: null, error: null, ms: 3, ...attempt };
    const input = { id, webhook, lease, url, attempt: answered, jitter: 0, nowMs: fixture.nowMs };
    return fixture.store.finishDelivery(input);
  };
  /** Claims the only due delivery and records an attempt with this result. */
  const attempt = async (answer: Partial<Attempt>) => {
    const claimed = await claim();
    expect(claimed).toHaveLength(1);
    return finish(claimed[0], answer);
  };
  const isDue = async () => (await fixture.store.findWebhookWork({ nowMs: fixture.nowMs })).due;
  const webhookOf = async (id: string) => {
    const webhooks = await fixture.store.listWebhooks({ account: PRODUCER });
    return webhooks.find((webhook) => webhook.id === id);
  };

  test('[H-10] a second rotation within a day keeps the old secret, and its end', async () => {
    const webhook = await openWithWebhook();
    const secretsAt = async () => {
      const id = await queueTest(webhook);
      const claimed = (await claim()).find((delivery) => delivery.id === id);
      await finish(claimed, { status: 204 });
      return claimed && activeSecrets(claimed, fixture.nowMs);
    };
    const [first = ''] = (await secretsAt()) ?? [];
    const rotate = (secret: string) => {
      const { nowMs } = fixture;
      const rotation = crypto.randomUUID();
      return fixture.store.rotateWebhookSecret({ ...own(webhook), rotation, secret, nowMs });
    };
    await rotate('whsec_second');
    fixture.nowMs += DAY - 1;
    await rotate('whsec_third');
    expect(await secretsAt()).toEqual(['whsec_third', first]);
    fixture.nowMs += 1;
    expect(await secretsAt()).toEqual(['whsec_third']);
    await rotate('whsec_fourth');
    expect(await secretsAt()).toEqual(['whsec_fourth', 'whsec_third']);
    // As after K-7: no end is more than a day away.
    fixture.nowMs -= 1_000;
    await rotate('whsec_fifth');
    fixture.nowMs += 1_000;
    expect(await secretsAt()).toEqual(['whsec_fifth', 'whsec_fourth']);
    fixture.nowMs += DAY - 1_000;
    expect(await secretsAt()).toEqual(['whsec_fifth']);
  });

  test('[H-14] a failing delivery is retried on schedule, then marked as failed', async () => {
    const webhook = await openWithWebhook();
    await queueTest(webhook);
    const beganMs = fixture.nowMs;
    const delaysS = [5, 30, 120, 600, 3600, 3 * 3600, 6 * 3600, 12 * 3600];
    for (const delayS of delaysS) {
      expect(await attempt({ status: 503 })).toBe('retried');
      const [pending] = await fixture.deliveries(webhook);
      const nextAttempt = fixture.nowMs + delayS * 1_000;
      expect(pending).toMatchObject({ state: 'pending', nextAttempt });
      fixture.nowMs += delayS * 1_000 - 1;
      expect(await isDue()).toBe(false);
      expect(await claim()).toEqual([]);
      fixture.nowMs += 1;
      expect(await isDue()).toBe(true);
    }
    expect(await attempt({ error: 'timeout' })).toBe('failed');
    const [failed] = await fixture.deliveries(webhook);
    expect(failed).toMatchObject({ state: 'failed', nextAttempt: null });
    expect(failed?.attempts).toHaveLength(9);
    expect(failed?.attempts[0]).toEqual({ at: beganMs, status: 503, error: null, ms: 3 });
    expect(failed?.attempts[8]).toMatchObject({ status: null, error: 'timeout' });
    expect((await webhookOf(webhook))?.failingSince).toBe(beganMs);
    expect(await isDue()).toBe(false);
  });

  test('[H-14] a successful delivery resets the failure state of its webhook', async () => {
    const webhook = await openWithWebhook();
    await queueTest(webhook);
    await attempt({ error: 'connection' });
    expect((await webhookOf(webhook))?.failingSince).toBe(fixture.nowMs);
    fixture.nowMs += 5_000;
    expect(await attempt({ status: 204 })).toBe('delivered');
    const [done] = await fixture.deliveries(webhook);
    expect(done).toMatchObject({ state: 'delivered', nextAttempt: null });
    expect((await webhookOf(webhook))?.failingSince).toBeNull();
    expect(await isDue()).toBe(false);
  });

  test('[H-15] status 410 disables the webhook and fails its pending deliveries', async () => {
    const webhook = await openWithWebhook();
    const other = await fixture.newWebhook('stream.started');
    await queueTest(webhook);
    await queueTest(webhook);
    const pendingId = await queueTest(other);
    const claimed = (await claim()).filter((delivery) => delivery.webhook === webhook);
    expect(claimed).toHaveLength(2);
    expect(await finish(claimed[0], { status: 410 })).toBe('failed');
    expect(await webhookOf(webhook)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    // The other delivery was being sent: its result changes nothing now.
    expect(await finish(claimed[1], { status: 200 })).toBeNull();
    const failed = { state: 'failed', nextAttempt: null };
    expect(await fixture.deliveries(webhook)).toMatchObject([failed, failed]);
    expect((await fixture.deliveries(other)).map(({ id, state }) => [id, state])).toEqual([
      [pendingId, 'pending'],
    ]);
    const refused = await queueTest(webhook).catch((error) => error);
    expect(refused).toMatchObject({ kind: 'conflict' });
    await fixture.store.patchWebhook({ ...own(webhook), patch: { enabled: true } });
    expect(await webhookOf(webhook)).toMatchObject({
      ...{ enabled: true, disabledReason: null, failingSince: null },
    });
  });

  test('[H-15] status 410 of a URL that was replaced meanwhile does not disable the webhook', async () => {
    const webhook = await openWithWebhook();
    await queueTest(webhook);
    await queueTest(webhook);
    const claimed = await claim();
    const patch = { url: 'https://hooks.example.org/moved' };
    await fixture.store.patchWebhook({ ...own(webhook), patch });
    expect(await finish(claimed[0], { status: 410 })).toBe('retried');
    expect(await finish(claimed[1], { status: 500 })).toBe('retried');
    const unchanged = { enabled: true, disabledReason: null, failingSince: null };
    expect(await webhookOf(webhook)).toMatchObject({ ...patch, ...unchanged });
    fixture.nowMs += 5_000;
    expect((await claim()).map(({ url }) => url)).toEqual([patch.url, patch.url]);
  });

  /** Queues a delivery, and fails each of its attempts when it is due. @returns its last outcome */
  const exhaust = async (webhook: string) => {
    await queueTest(webhook);
    for (;;) {
      const outcome = await attempt({ status: 500 });
      if (outcome !== 'retried') return outcome;
      const deliveries = await fixture.deliveries(webhook);
      fixture.nowMs = deliveries.find(({ state }) => state === 'pending')?.nextAttempt ?? 0;
    }
  };

  test('[H-15] the last attempt of a delivery after three days of failures disables the webhook', async () => {
    const webhook = await openWithWebhook();
    const firstMs = fixture.nowMs;
    expect(await exhaust(webhook)).toBe('failed');
    expect(fixture.nowMs - firstMs).toBeLessThan(DAY);
    expect(await webhookOf(webhook)).toMatchObject({ enabled: true, failingSince: firstMs });
    fixture.nowMs = firstMs + 3 * DAY;
    await queueTest(webhook);
    expect(await exhaust(webhook)).toBe('failed');
    expect(await webhookOf(webhook)).toMatchObject({ enabled: false, disabledReason: 'failing' });
    const deliveries = await fixture.deliveries(webhook);
    expect(deliveries.map(({ state, nextAttempt }) => [state, nextAttempt])).toEqual(
      Array(3).fill(['failed', null]),
    );
  });

  test('[H-15] one failure after a quiet week does not disable the webhook, and is tried again', async () => {
    const webhook = await openWithWebhook();
    await exhaust(webhook);
    fixture.nowMs += 7 * DAY;
    await queueTest(webhook);
    expect(await attempt({ status: 500 })).toBe('retried');
    fixture.nowMs += 5_000;
    expect(await attempt({ status: 200 })).toBe('delivered');
    expect(await webhookOf(webhook)).toMatchObject({ enabled: true, failingSince: null });
  });

  test('[H-16] claims take at most two deliveries of a webhook, one of a failing webhook, and half of the limit for failing webhooks', async () => {
    const good = await openWithWebhook();
    const failing = await Promise.all([1, 2, 3].map(() => fixture.newWebhook('stream.started')));
    for (const webhook of [good, ...failing]) for (let n = 0; n < 4; n++) await queueTest(webhook);
    const first = await claim();
    expect(first).toHaveLength(8); // Two of each of the four webhooks.
    for (const delivery of first) {
      await finish(delivery, delivery.webhook === good ? { status: 200 } : { status: 500 });
    }
    fixture.nowMs += 5_000;
    const second = await claim(16, 2);
    expect(second.map(({ isFailing }) => isFailing)).toEqual([false, false, true, true]);
    const failed = second.filter(({ isFailing }) => isFailing).map(({ webhook }) => webhook);
    expect(new Set(failed).size).toBe(2);
    // The working webhook is at its limit; only one failing webhook has capacity left.
    expect(await claim(16, 2)).toHaveLength(1);
    expect(await claim(16, 2)).toEqual([]);
    await finish(second[0], { status: 200 });
    expect(await claim(16, 2)).toEqual([]);
    await queueTest(good);
    expect((await claim(1, 0)).map(({ webhook }) => webhook)).toEqual([good]);
  });

  /** Creates an account. @returns its UUID */
  const newAccount = async (name: string): Promise<string> => {
    const uuid = crypto.randomUUID();
    await fixture.store.createAccount({
      user: { uuid, email: `${name}@example.org`, name, created: fixture.nowMs },
      token: { id: name, name: 'test', prefix: 'fb_', hash: name },
      nowMs: fixture.nowMs,
    });
    return uuid;
  };
  const giveTo = (account: string, webhooks: readonly string[]) =>
    Promise.all(
      webhooks.map((id) =>
        fixture.run('update webhooks set account = $1 where id = $2', [account, id]),
      ),
    );

  /** Six webhooks with nine due deliveries each. */
  const addBacklog = async (account: string) => {
    const webhooks = await Promise.all(
      Array.from({ length: 6 }, () => fixture.newWebhook('stream.started')),
    );
    for (const webhook of webhooks) for (let n = 0; n < 9; n++) await queueTest(webhook);
    await giveTo(account, webhooks);
  };

  test('[H-16] a node claims at most 12 deliveries of an account at a time, and then those of others', async () => {
    fixture = await open();
    const other = await newAccount('other');
    for (let n = 0; n < 19; n++) {
      const webhook = await fixture.newWebhook('stream.started');
      for (let delivery = 0; delivery < 2; delivery++) await queueTest(webhook);
    }
    fixture.nowMs++;
    const last = await fixture.newWebhook('stream.started');
    await queueTest(last);
    await giveTo(other, [last]);
    const first = await claim();
    expect(first.map(({ account }) => account)).toEqual(Array(12).fill(PRODUCER));
    const next = await claim(4, 8, fixture.store, { [PRODUCER]: 12 });
    expect(next.map(({ webhook, account }) => [webhook, account])).toEqual([[last, other]]);
    const freed = await claim(5, 8, fixture.store, { [PRODUCER]: 10, [other]: 1 });
    expect(freed.map(({ account }) => account)).toEqual([PRODUCER, PRODUCER]);
  });

  test('[H-16] the account with the fewest attempts of a node is next, however long the deliveries of others are due', async () => {
    fixture = await open();
    const [slow, late] = [await newAccount('slow'), await newAccount('late')];
    for (const account of [PRODUCER, slow]) await addBacklog(account);
    fixture.nowMs += 60_000;
    const last = await fixture.newWebhook('stream.started');
    for (let n = 0; n < 9; n++) await queueTest(last);
    await giveTo(late, [last]);
    const inFlight = { [PRODUCER]: 12, [slow]: 3 };
    const accounts = async (counts: Record<string, number>) =>
      (await claim(1, 8, fixture.store, counts)).map(({ account }) => account);
    expect(await accounts(inFlight)).toEqual([late]);
    expect(await accounts({ ...inFlight, [PRODUCER]: 11, [late]: 1 })).toEqual([late]);
    // The only webhook of the third account has its two attempts.
    expect(await accounts({ ...inFlight, [PRODUCER]: 11, [late]: 2 })).toEqual([slow]);
  });

  test('[H-16] a failing webhook gets its turn beside accounts with slow receivers and a backlog', async () => {
    fixture = await open();
    const [slow, failed] = [await newAccount('slow'), await newAccount('failed')];
    const failing = await fixture.newWebhook('stream.started');
    await queueTest(failing);
    await giveTo(failed, [failing]);
    const [delivery] = await claim();
    if (!delivery) throw new Error('nothing was claimed');
    await finish(delivery, { status: 500 });
    for (const account of [PRODUCER, slow]) await addBacklog(account);
    fixture.nowMs += 60_000;
    const inFlight = { [PRODUCER]: 8, [slow]: 7 };
    const next = async (failingLimit: number) =>
      (await claim(1, failingLimit, fixture.store, inFlight)).map(({ account }) => account);
    expect(await next(0)).toEqual([slow]);
    expect(await next(8)).toEqual([failed]);
    expect(await next(8)).toEqual([slow]);
  });

  test('[H-16] claims take the longest due webhooks of an account first, up to the limit', async () => {
    await openWithWebhook();
    const webhooks: string[] = [];
    for (let n = 0; n < 5; n++) {
      const webhook = await fixture.newWebhook('stream.started');
      webhooks.unshift(webhook);
      await queueTest(webhook);
      fixture.nowMs -= 1_000;
    }
    fixture.nowMs += 10_000;
    const claimed = await claim(3);
    expect(claimed.map(({ webhook }) => webhook)).toEqual(webhooks.slice(0, 3));
  });

  test('[H-17] a claimed delivery is leased for 30 s, then any node can claim it', async () => {
    const webhook = await openWithWebhook();
    const id = await queueTest(webhook);
    const [firstNode, secondNode] = fixture.nodes;
    const [firstClaim] = await claim(16, 8, firstNode);
    expect(firstClaim?.id).toBe(id);
    fixture.nowMs += LEASE_MS - 1;
    expect(await claim(16, 8, secondNode)).toEqual([]);
    fixture.nowMs += 1;
    const [secondClaim] = await claim(16, 8, secondNode);
    expect(secondClaim).toMatchObject({ id, body: firstClaim?.body });
    // The first node is alive after all, but only the second holds the lease.
    expect(await finish(firstClaim, { status: 500 })).toBeNull();
    expect(await finish(secondClaim, { status: 200 })).toBe('delivered');
    expect((await fixture.deliveries(webhook))[0]?.attempts).toHaveLength(1);
  });

  test('[H-17] a released delivery is due at once', async () => {
    const webhook = await openWithWebhook();
    await queueTest(webhook);
    const [claimed] = await claim();
    if (!claimed) throw new Error('nothing was claimed');
    await fixture.store.releaseDelivery({ ...claimed, nowMs: fixture.nowMs });
    expect((await claim())[0]?.id).toBe(claimed.id);
  });

  test('[H-17] concurrent nodes claim each delivery once and at most two of a webhook', async () => {
    const webhooks = [await openWithWebhook()];
    for (let n = 0; n < 5; n++) webhooks.push(await fixture.newWebhook('stream.started'));
    for (const webhook of webhooks) for (let n = 0; n < 6; n++) await queueTest(webhook);
    const sent: string[] = [];
    for (let round = 0; sent.length < 36; round++) {
      expect(round).toBeLessThan(40);
      const nodes = [...fixture.nodes, ...fixture.nodes];
      const claimed = (await Promise.all(nodes.map((node) => claim(5, 8, node)))).flat();
      const groups = Map.groupBy(claimed, ({ webhook }) => webhook).values();
      for (const group of groups) expect(group.length).toBeLessThanOrEqual(2);
      for (const delivery of claimed) {
        sent.push(delivery.id);
        expect(await finish(delivery, { status: 200 })).toBe('delivered');
      }
    }
    expect(new Set(sent).size).toBe(36);
  });

  test('[H-19] a manual retry is due at once and restarts the schedule', async () => {
    const webhook = await openWithWebhook();
    const id = await queueTest(webhook);
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
    expect((await fixture.deliveries(webhook))[0]?.nextAttempt).toBe(fixture.nowMs + 5_000);
    await fixture.store.patchWebhook({ ...own(webhook), patch: { enabled: false } });
    expect(await retry().catch((error) => error)).toMatchObject({ kind: 'conflict' });
  });

  test('[H-20] a delivery retains its last 20 attempts', async () => {
    const webhook = await openWithWebhook();
    const id = await queueTest(webhook);
    for (let n = 1; n <= 25; n++) {
      await attempt({ status: 500 + n });
      await fixture.store.retryDelivery({ ...own(webhook), delivery: id, nowMs: fixture.nowMs });
    }
    const [delivery] = await fixture.deliveries(webhook);
    expect(delivery?.attempts.map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, (_, n) => 506 + n),
    );
  });

  /** Inserts `count` deliveries, created one ms apart from `fromMs` on. */
  const insertMany = (
    webhook: string,
    name: string,
    count: number,
    fromMs: number,
    isWaiting: boolean,
  ) =>
    fixture.run(
      `insert into deliveries (id, webhook, type, body, created, state, due)
       with recursive made(n) as (select 1 union all select n + 1 from made where n < ${count})
       select 'made-${name}' || n, '${webhook}', 'test', '{}', ${fromMs} + n,
         '${isWaiting ? 'pending' : 'delivered'}', ${isWaiting ? `${fromMs} + n` : 'null'}
       from made`,
    );
  /** Cleans up as the sender does. @returns how many deliveries were removed or marked as failed */
  const cleanUp = async () => {
    let count = 0;
    for (let next: string | null = ''; next !== null; ) {
      const found: Awaited<ReturnType<typeof fixture.store.findOldDeliveries>> =
        await fixture.store.findOldDeliveries({ nowMs: fixture.nowMs, after: next });
      const { old, stale, excess, after } = found;
      expect(old.length).toBeLessThanOrEqual(2_000);
      expect(stale.length + excess.length).toBeLessThanOrEqual(100);
      await fixture.store.removeOldDeliveries({ old, stale, excess });
      count += old.length + stale.length + excess.length;
      next = after;
    }
    return count;
  };
  const countOf = async (condition: string) =>
    Number((await fixture.run(`select count(*) as n from deliveries where ${condition}`))[0]?.n);

  test('[H-20] the log is bounded by number, by age, and by deletion of the webhook', async () => {
    const webhook = await openWithWebhook();
    const quiet = await fixture.newWebhook('winners');
    const { nowMs } = fixture;
    await insertMany(webhook, 'a', 1_005, nowMs - 10_000, false);
    await insertMany(quiet, 'b', 3, nowMs - 30 * DAY - 10, false);
    await insertMany(quiet, 'c', 3, nowMs - 30 * DAY, false);
    await insertMany('nobody', 'd', 4, nowMs - 10_000, false);
    await queueTest(webhook);
    expect(await cleanUp()).toBe(5 + 3 + 4);
    expect(await countOf(`id like 'made-a%'`)).toBe(1_000);
    expect(await countOf(`id in ('made-a1', 'made-a5')`)).toBe(0);
    expect(await countOf(`id = 'made-a6'`)).toBe(1);
    expect(await countOf(`id like 'made-b%' or id like 'made-d%'`)).toBe(0);
    expect(await countOf(`id like 'made-c%'`)).toBe(3);
    expect(await countOf('due is not null')).toBe(1);
    expect(await cleanUp()).toBe(0);
  });

  test('[H-20] a clean-up finds every webhook, however many deliveries one of them has', async () => {
    const webhook = await openWithWebhook();
    await insertMany('nobody', 'n', 3_500, fixture.nowMs - 10_000, false);
    await insertMany(webhook, 'a', 4_500, fixture.nowMs - 10_000, false);
    const other = await fixture.newWebhook('winners');
    await insertMany(other, 'b', 1_001, fixture.nowMs - 10_000, false);
    for (let i = 0; i < 25; i++)
      await insertMany(`gone ${i}`, `g${i}-`, 1, fixture.nowMs, i % 2 === 0);
    // As autovacuum does: without statistics PostgreSQL takes 0.4 s to remove 1,000, half of the deadline.
    await fixture.run('analyze deliveries');
    expect(await cleanUp()).toBe(3_500 + 3_500 + 1 + 25);
    // Deliveries of deleted webhooks were pending and are marked as failed: now they are removed.
    expect(await cleanUp()).toBe(13);
    expect(await countOf('true')).toBe(2_000);
  });

  test('[H-20] the oldest deliveries beyond 10,000 pending ones are marked as failed', async () => {
    const webhook = await openWithWebhook();
    await insertMany(webhook, 'w', 10_203, fixture.nowMs - 20_000, true);
    expect(await cleanUp()).toBe(203);
    expect(await countOf(`state = 'pending'`)).toBe(10_000);
    expect(
      await countOf(
        `state = 'failed' and due is null and created <= ${fixture.nowMs - 20_000 + 203}`,
      ),
    ).toBe(203);
  });

  test('[H-15] disabling a webhook writes no delivery, and its pending ones have failed, also when it is enabled again', async () => {
    const webhook = await openWithWebhook();
    await insertMany(webhook, 'w', 250, fixture.nowMs - 20_000, true);
    const [inFlight] = await claim();
    const enable = (enabled: boolean) =>
      fixture.store.patchWebhook({ ...own(webhook), patch: { enabled } });
    const states = async () =>
      (await fixture.deliveries(webhook)).map(
        ({ state, nextAttempt }) => `${state} ${nextAttempt}`,
      );
    await enable(false);
    expect(await countOf(`state = 'pending'`)).toBe(250);
    expect(new Set(await states())).toEqual(new Set(['failed null']));
    await enable(true);
    expect(new Set(await states())).toEqual(new Set(['failed null']));
    expect(await claim()).toEqual([]);
    expect(await finish(inFlight, { status: 200 })).toBeNull();
    const sent = await queueTest(webhook);
    const retried = ['made-w100', inFlight?.id ?? ''];
    for (const delivery of retried) {
      const again = await fixture.store.retryDelivery({
        ...{ ...own(webhook), delivery, nowMs: fixture.nowMs },
      });
      expect(again).toMatchObject({ state: 'pending', nextAttempt: fixture.nowMs });
    }
    expect(await cleanUp()).toBe(248);
    expect(await countOf(`state = 'failed' and due is null and lease is null`)).toBe(248);
    const claimed = await claim();
    fixture.nowMs += LEASE_MS;
    claimed.push(...(await claim()));
    expect(new Set(claimed.map(({ id }) => id))).toEqual(new Set([sent, ...retried]));
  });

  test('[H-15] a clean-up writes few deliveries of disabled webhooks at once', async () => {
    const webhooks = [await openWithWebhook(), await fixture.newWebhook('stream.started')];
    for (const webhook of webhooks) {
      await insertMany(webhook, webhook, 150, fixture.nowMs - 20_000, true);
      await fixture.store.patchWebhook({ ...own(webhook), patch: { enabled: false } });
    }
    for (let left = 300; left > 0; left -= 100) {
      expect(await countOf(`state = 'pending'`)).toBe(left);
      const found = await fixture.store.findOldDeliveries({ nowMs: fixture.nowMs, after: '' });
      await fixture.store.removeOldDeliveries(found);
    }
    expect(await cleanUp()).toBe(0);
  });

  test('[H-4] deleting a webhook ends its deliveries at once, and the clean-up deletes them', async () => {
    const webhook = await openWithWebhook();
    await insertMany(webhook, 'f', 1_500, fixture.nowMs - 20_000, false);
    await insertMany(webhook, 'w', 1_500, fixture.nowMs - 20_000, true);
    const claimed = await claim();
    expect(claimed).toHaveLength(2);
    await fixture.store.deleteWebhook(own(webhook));
    expect(await countOf('true')).toBe(3_000);
    expect(await claim()).toEqual([]);
    expect(await finish(claimed[0], { status: 200 })).toBeNull();
    // Marks pending deliveries as failed, then deletes them.
    while ((await cleanUp()) > 0);
    expect(await countOf('true')).toBe(0);
  });

  test('[H-4] deleting a webhook deletes its subscriptions and its log', async () => {
    const webhook = await openWithWebhook();
    await queueTest(webhook);
    await fixture.store.deleteWebhook(own(webhook));
    const [row] = await fixture.run('select count(*) as n from subscriptions');
    expect(Number(row?.n)).toBe(0);
    const page = { ...own(webhook), before: null, limit: 1 };
    const error = await fixture.store.listDeliveries(page).catch((thrown) => thrown);
    expect(error).toMatchObject({ kind: 'not-found' });
  });
});
