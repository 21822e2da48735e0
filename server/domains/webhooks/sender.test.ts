import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import { Unavailable } from '../../platform/errors.ts';
import type { Post, PostResult } from './post.ts';
import { type SenderOptions, WebhookSender } from './sender.ts';
import type { ClaimedDelivery } from './sending-sql.ts';

const CLAIMED: ClaimedDelivery = {
  id: 'a delivery',
  webhook: 'a webhook',
  account: 'an account',
  lease: 'a lease',
  url: 'https://hooks.example.org/',
  body: '{}',
  isFailing: false,
  secret: 'whsec_AAAA',
  oldSecret: null,
  oldSecretUntil: null,
};

/** A sender on a fake store with one due delivery, the store calls it makes, and its warnings. */
function createSender(post: Post | null, store: Partial<SenderOptions['store']> = {}) {
  const calls: string[] = [];
  const warnings: string[] = [];
  let due = true;
  const sender = new WebhookSender({
    clock: { nowMs: () => 1_000 },
    logger: pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line).msg) }),
    post,
    newId: () => 'a lease',
    random: () => 0,
    drainMs: 1,
    pause: async () => void calls.push('pause'),
    store: {
      findWebhookWork: async () => ({ undispatched: due, due }),
      dispatchWebhookEvents: async () => {
        calls.push('dispatch');
        return { hasMore: false, after: '' };
      },
      claimDeliveries: async () => {
        const claimed = due ? [CLAIMED] : [];
        due = false;
        return claimed;
      },
      finishDelivery: async () => {
        calls.push('finish');
        return 'delivered' as const;
      },
      releaseDelivery: async () => void calls.push('release'),
      findOldDeliveries: async () => ({ old: [], stale: [], excess: [], after: null }),
      removeOldDeliveries: async () => {},
      trimEventLog: async () => ({ removed: 0, after: null }),
      ...store,
    },
  });
  return { sender, calls, warnings };
}

const OK: PostResult = { status: 200, error: null };

describe('WebhookSender', () => {
  test('[H-17] WebhookSender retries to record an attempt while the database is unavailable and the lease lasts', async () => {
    let unavailable = 3;
    const { sender, calls } = createSender(async () => OK, {
      finishDelivery: async () => {
        if (unavailable-- > 0) throw new Unavailable('The database is unavailable.');
        return 'delivered';
      },
    });
    await sender.sendAll();
    expect(calls).toEqual(['dispatch', 'pause', 'pause', 'pause']);
  });

  test('[H-20] a clean-up removes batch after batch until none is left, and never overlaps', async () => {
    const found = [
      { old: ['1'], stale: [], excess: [], after: '' },
      { old: [], stale: [], excess: [], after: 'a' },
      { old: [], stale: [], excess: ['2'], after: 'b' },
      { old: [], stale: [], excess: [], after: null },
    ];
    const removed: unknown[] = [];
    const searched: string[] = [];
    const { sender } = createSender(null, {
      findOldDeliveries: async ({ after }) => {
        searched.push(after);
        return found.shift() ?? { old: [], stale: [], excess: [], after: null };
      },
      removeOldDeliveries: async (batch) => void removed.push(batch),
    });
    await Promise.all([sender.cleanUp(), sender.cleanUp()]);
    expect(searched).toEqual(['', '', 'a', 'b']);
    expect(removed).toEqual([
      { old: ['1'], stale: [], excess: [] },
      { old: [], stale: [], excess: ['2'] },
    ]);
    await sender.cleanUp();
    expect(searched).toHaveLength(5);
  });

  test('[H-20] a clean-up that failed continues with the webhook where it stopped', async () => {
    const searched: string[] = [];
    const { sender } = createSender(null, {
      findOldDeliveries: async ({ after }) => {
        searched.push(after);
        if (searched.length === 2) throw new Unavailable('The database did not answer in time.');
        return { old: [], stale: [], excess: [], after: after === '' ? 'a' : null };
      },
    });
    for (let n = 0; n < 3; n++) await sender.cleanUp();
    expect(searched).toEqual(['', 'a', 'a', '', 'a']);
  });

  test('[H-20] a clean-up trims the event log until it is short, and says how many events it removed', async () => {
    const found = [
      { removed: 100, after: '' },
      { removed: 3, after: '' },
      { removed: 0, after: 'd' },
      { removed: 0, after: null },
    ];
    const searched: string[] = [];
    const { sender, warnings } = createSender(null, {
      findOldDeliveries: async () => {
        throw new Unavailable('The database did not answer in time.');
      },
      trimEventLog: async ({ after }) => {
        searched.push(after);
        return found.shift() ?? { removed: 0, after: null };
      },
    });
    await sender.cleanUp();
    expect(searched).toEqual(['', '', '', 'd']);
    expect(warnings).toHaveLength(1);
    expect(String(warnings[0])).toContain('the oldest were removed');
    await sender.cleanUp();
    expect(warnings).toHaveLength(1);
  });

  test('[H-17] WebhookSender releases unsent deliveries when it stops', async () => {
    const postStarted = Promise.withResolvers<void>();
    const { sender, calls } = createSender((_url, _headers, _body, stop) => {
      postStarted.resolve();
      return new Promise((_, reject) => {
        stop.addEventListener('abort', () => reject(stop.reason));
      });
    });
    void sender.send();
    await postStarted.promise;
    await sender.stop();
    expect(calls).toEqual(['dispatch', 'release']);
    await sender.send();
    expect(calls).toEqual(['dispatch', 'release']);
  });

  test('[H-16] WebhookSender counts the attempts in flight by account, and asks again for others', async () => {
    const inFlight: Record<string, number>[] = [];
    const answers = [2, 1].map((count) => Array<ClaimedDelivery>(count).fill(CLAIMED));
    const answered = Promise.withResolvers<PostResult>();
    const { sender } = createSender(() => answered.promise, {
      findWebhookWork: async () => ({ undispatched: false, due: true }),
      claimDeliveries: async ({ inFlightByAccount }) => {
        inFlight.push({ ...inFlightByAccount });
        return answers.shift() ?? [];
      },
    });
    await sender.send();
    expect(inFlight).toEqual([{}, { 'an account': 2 }, { 'an account': 3 }]);
    answered.resolve(OK);
    await sender.sendAll();
    await sender.send();
    expect(inFlight.at(-1)).toEqual({});
  });

  test('[H-16] WebhookSender sends at most 18 deliveries of an account in 0.3 s', async () => {
    const MOST = 18;
    let left = 60;
    const sentMs: number[] = [];
    const { sender } = createSender(
      async () => {
        sentMs.push(performance.now());
        return OK;
      },
      {
        findWebhookWork: async () => ({ undispatched: false, due: left > 0 }),
        claimDeliveries: async ({ inFlightByAccount }) => {
          const count = Math.min(left, 12 - (inFlightByAccount['an account'] ?? 0));
          left -= count;
          return Array<ClaimedDelivery>(count).fill(CLAIMED);
        },
      },
    );
    await sender.sendAll();
    expect(sentMs).toHaveLength(60);
    // Timers may be early by a millisecond.
    for (const [index, ms] of sentMs.slice(MOST).entries())
      expect(ms - (sentMs[index] as number)).toBeGreaterThan(290);
  });

  test('[H-26] WebhookSender claims after each dispatch, and before the next one', async () => {
    let batches = 3;
    const { sender, calls } = createSender(async () => OK, {
      findWebhookWork: async () => ({ undispatched: batches > 0, due: false }),
      dispatchWebhookEvents: async () => {
        calls.push('dispatch');
        return { hasMore: --batches > 0, after: '' };
      },
      claimDeliveries: async () => {
        calls.push('claim');
        return [];
      },
    });
    await sender.sendAll();
    expect(calls).toEqual(['dispatch', 'claim', 'dispatch', 'claim', 'dispatch', 'claim']);
  });

  test('[H-26] WebhookSender continues with the account after the last turn', async () => {
    const turns: string[] = [];
    const { sender } = createSender(null, {
      findWebhookWork: async () => ({ undispatched: true, due: false }),
      dispatchWebhookEvents: async ({ after }) => {
        turns.push(after);
        return { hasMore: turns.length < 3, after: `${turns.length}` };
      },
    });
    await sender.send();
    await sender.send();
    expect(turns).toEqual(['', '1', '2', '3']);
  });

  test('[H-26] WebhookSender claims deliveries when a dispatch fails, and logs one of 20 failures in a row', async () => {
    let isFailing = true;
    const { sender, calls, warnings } = createSender(async () => OK, {
      findWebhookWork: async () => ({ undispatched: true, due: true }),
      dispatchWebhookEvents: async () => {
        if (isFailing) throw new Unavailable('The database did not answer in time.');
        return { hasMore: false, after: '' };
      },
      claimDeliveries: async () => {
        calls.push('claim');
        return [];
      },
    });
    const send = async (times: number) => {
      for (let n = 0; n < times; n++) await sender.send();
    };
    await send(19);
    expect(calls).toHaveLength(19);
    expect(warnings).toEqual([]);
    await send(21);
    const warning = 'webhook events cannot be dispatched; trying again';
    expect(warnings).toEqual([warning, warning]);
    isFailing = false;
    await send(1);
    isFailing = true;
    await send(19);
    expect(warnings).toHaveLength(2);
  });

  test('[H-17] WebhookSender dispatches events but claims nothing on a node that sends no deliveries', async () => {
    const { sender, calls } = createSender(null);
    await sender.sendAll();
    expect(calls).toEqual(['dispatch']);
  });
});
