import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { activeSecrets, newSecret, OLD_SECRET_MS, signedHeaders } from './signing.ts';

const BODY = '{"type":"test","timestamp":"2026-11-22T02:00:00.000Z","data":{"name":"Zoë"}}';
const ID = '2c5ea4c0-4067-4fe9-8bad-9b1deb4d3b7d';

describe('a webhook signature', () => {
  test('[H-9] a webhook signature equals the example in the Standard Webhooks documents', () => {
    // Secret, content and signature are those of the specification's example.
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const body = '{"test": 2432232314}';
    expect(
      signedHeaders([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_999, body),
    ).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('[H-9] a webhook signature is accepted by the Standard Webhooks library for this body only', () => {
    const secret = newSecret(randomBytes);
    const headers = signedHeaders([secret], ID, Date.now(), BODY);
    expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    expect(() => new Webhook(secret).verify(`${BODY} `, headers)).toThrow();
    expect(() => new Webhook(newSecret(randomBytes)).verify(BODY, headers)).toThrow();
    const later = { ...headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) + 1) };
    expect(() => new Webhook(secret).verify(BODY, later)).toThrow();
  });

  test('[H-10] a webhook signature uses both secrets for a day after a rotation', () => {
    const [secret, oldSecret] = [newSecret(randomBytes), newSecret(randomBytes)];
    const nowMs = Date.now();
    const secrets = { secret, oldSecret, oldSecretUntil: nowMs + OLD_SECRET_MS };
    const headers = signedHeaders(activeSecrets(secrets, nowMs), ID, nowMs, BODY);
    for (const key of [secret, oldSecret]) new Webhook(key).verify(BODY, headers);
    expect(activeSecrets(secrets, nowMs + OLD_SECRET_MS - 1)).toEqual([secret, oldSecret]);
    expect(activeSecrets(secrets, nowMs + OLD_SECRET_MS)).toEqual([secret]);
    expect(activeSecrets({ ...secrets, oldSecret: null, oldSecretUntil: null }, 0)).toEqual([
      secret,
    ]);
  });
});

test('[H-1] newSecret returns whsec_ and 32 random bytes in base64', () => {
  const secrets = Array.from({ length: 100 }, () => newSecret(randomBytes));
  for (const secret of secrets) {
    expect(secret).toStartWith('whsec_');
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  }
  expect(new Set(secrets).size).toBe(100);
});
