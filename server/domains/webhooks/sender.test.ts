import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import { Unavailable } from '../../platform/errors.ts';
import type { Post, Posted } from './post.ts';
import { type SenderOptions, WebhookSender } from './sender.ts';
import type { Claimed } from './sending-sql.ts';

const CLAIMED: Claimed = {
  id: 'a delivery',
  webhook: 'a webhook',
  lease: 'a lease',
  url: 'https://hooks.example.org/',
  body: '{}',
  isFailing: false,
  secret: 'whsec_AAAA',
  oldSecret: null,
  oldSecretUntil: null,
};

/** A sender on a record that has one delivery due, and what it did there. */
function senderOf(post: Post | null, store: Partial<SenderOptions['store']> = {}) {
  const calls: string[] = [];
  let due = true;
  const sender = new WebhookSender({
    clock: { nowMs: () => 1_000 },
    logger: pino({ level: 'silent' }),
    post,
    newId: () => 'a lease',
    random: () => 0,
    lastMs: 1,
    pause: async () => void calls.push('pause'),
    store: {
      findWebhookWork: async () => ({ untold: due, due }),
      tellWebhooks: async () => {
        calls.push('tell');
        return false;
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
      findOldDeliveries: async () => ({ old: [], beyond: [] }),
      forgetDeliveries: async () => {},
      ...store,
    },
  });
  return { sender, calls };
}

const WELL: Posted = { status: 200, error: null };

describe('a sender', () => {
  test('[H-17] tells the database what came of it as often as it takes, while the lease lasts', async () => {
    let unavailable = 3;
    const { sender, calls } = senderOf(async () => WELL, {
      finishDelivery: async () => {
        if (unavailable-- > 0) throw new Unavailable('The database is unavailable.');
        return 'delivered';
      },
    });
    await sender.sendAll();
    expect(calls).toEqual(['tell', 'pause', 'pause', 'pause']);
  });

  test('[H-17] that stops gives back what it could not send, for any node to send', async () => {
    const began = Promise.withResolvers<void>();
    const { sender, calls } = senderOf((_url, _headers, _body, stop) => {
      began.resolve();
      return new Promise((_, reject) => {
        stop.addEventListener('abort', () => reject(stop.reason));
      });
    });
    void sender.send();
    await began.promise;
    await sender.stop();
    expect(calls).toEqual(['tell', 'release']);
    await sender.send();
    expect(calls).toEqual(['tell', 'release']);
  });

  test('[H-17] without the role only puts what happened before the webhooks', async () => {
    const { sender, calls } = senderOf(null);
    await sender.sendAll();
    expect(calls).toEqual(['tell']);
  });
});
