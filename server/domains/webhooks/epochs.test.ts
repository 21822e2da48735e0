import { afterEach, expect, test } from 'bun:test';
import {
  describeWebhooks,
  PRODUCER,
  type WebhookFixture,
} from '../../../test/support/webhooks/webhook-fixture.ts';
import { LEASE_MS } from './sending-sql.ts';

describeWebhooks('deliveries of a webhook that is disabled and enabled', (open) => {
  let fixture: WebhookFixture;
  afterEach(() => fixture.close());

  const own = (id: string) => ({ id, account: PRODUCER });
  /** Opens a fixture with a webhook and `count` deliveries to it. */
  const openWithDeliveries = async (count: number) => {
    fixture = await open();
    const webhook = await fixture.newWebhook('stream.started');
    return { webhook, deliveries: await queue(webhook, count) };
  };
  /** @returns the ids of new deliveries */
  const queue = async (webhook: string, count: number) => {
    const deliveries: string[] = [];
    for (let n = 0; n < count; n++) {
      const key = crypto.randomUUID();
      const { nowMs } = fixture;
      deliveries.push((await fixture.store.testWebhook({ ...own(webhook), key, nowMs })).id);
    }
    return deliveries;
  };
  const enable = (webhook: string, enabled: boolean) =>
    fixture.store.patchWebhook({ ...own(webhook), patch: { enabled } });
  const claim = async () => {
    const { nowMs } = fixture;
    const limits = { limit: 16, failingLimit: 8, inFlightByAccount: {} };
    const lease = crypto.randomUUID();
    return (await fixture.store.claimDeliveries({ lease, ...limits, nowMs })).map(({ id }) => id);
  };

  test('[H-19] a clean-up does not fail a delivery that was retried after it was found', async () => {
    const { webhook, deliveries } = await openWithDeliveries(3);
    await enable(webhook, false);
    const found = await fixture.store.findOldDeliveries({ nowMs: fixture.nowMs, after: '' });
    await enable(webhook, true);
    const delivery = deliveries[1] ?? '';
    await fixture.store.retryDelivery({ ...own(webhook), delivery, nowMs: fixture.nowMs });
    await fixture.store.removeOldDeliveries(found);
    const states = (await fixture.deliveries(webhook)).map(({ id, state }) => [id, state] as const);
    const [first, second, third] = deliveries.map((id) => new Map(states).get(id));
    expect([first, second, third]).toEqual(['failed', 'pending', 'failed']);
    expect(await fixture.run('select 1 from deliveries where due is not null')).toHaveLength(1);
    expect(await claim()).toEqual([delivery]);
  });

  test('[H-16] attempts from before a webhook was disabled count for its limit', async () => {
    const { webhook } = await openWithDeliveries(4);
    expect(await claim()).toHaveLength(2);
    await enable(webhook, false);
    await enable(webhook, true);
    const [later] = await queue(webhook, 1);
    expect(await claim()).toEqual([]);
    fixture.nowMs += LEASE_MS;
    expect(await claim()).toEqual([later ?? '']);
  });
});
