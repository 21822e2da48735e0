import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SeatLeases } from '../../server/auth/viewer-tokens/seat-leases.ts';
import { PUBLISH_AHEAD_MS, signingKeyAt } from '../../server/auth/viewer-tokens/signing-keys.ts';
import { IDEMPOTENCY_MS } from '../../server/storage/sql/idempotency.ts';
import { openSession } from '../../server/storage/sql/postgres.ts';
import {
  type Fixture,
  NOW_MS,
  newDraft,
  newStream,
  onAll,
  openFixture,
  PRODUCER,
  QUIZ,
  refusalOf,
  refusedKinds,
  shuffled,
} from '../support/database/race-fixture.ts';

// Accounts, keys, idempotency keys and seats that are asked for on several nodes at once.

const ROUNDS = 20;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
}, 30_000);
afterAll(() => fixture.close());

const onceOf = (key: string, fingerprint = 'the same', nowMs = NOW_MS) => {
  return { owner: PRODUCER, key, fingerprint, nowMs };
};

async function eventsWaiting(streamId: string): Promise<number> {
  const outsider = await fixture.outsider();
  const { rows } = await outsider.query('select count(*) as n from outbox where stream_id = $1', [
    streamId,
  ]);
  return Number(rows[0].n);
}

test('[R-11] [N-3] a key that comes to three nodes at once does its work once, and all hear the same', async () => {
  const streamId = await newStream(fixture);
  for (let round = 0; round < ROUNDS; round++) {
    const once = onceOf(`event ${round}`);
    const event = { type: 'custom', data: { round } };
    const input = { streamId, producer: PRODUCER, event, nowMs: NOW_MS };
    const told = await onAll(fixture, (node) => node.recordProducerEvent(input, once));
    expect(told[0]).toMatchObject({ streamId, type: 'custom' });
    for (const one of told as unknown[]) expect(one).toEqual(told[0]);
    expect(await eventsWaiting(streamId)).toBe(round + 1);
  }
}, 30_000);

test('[R-12] of two requests that come with one key at once, one is carried out', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const streamId = await newStream(fixture);
    const told = await onAll(fixture, (node, index) =>
      node.recordProducerEvent(
        { streamId, producer: PRODUCER, event: { type: 'custom', data: { index } }, nowMs: NOW_MS },
        onceOf(`other ${round}`, `request ${index}`),
      ),
    );
    expect(refusedKinds(told)).toEqual(['conflict', 'conflict']);
    expect(await eventsWaiting(streamId)).toBe(1);
  }
}, 30_000);

test('[R-13] a key whose first request is refused is free for the second, which waits for it', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const streamId = await newStream(fixture);
    const draft = await newDraft(fixture, streamId);
    const key = `refused ${round}`;
    // One deletes what is not there, by the key of the two that publish: it is refused, first or last.
    const told = await onAll<unknown>(fixture, (node, index) =>
      index === 0
        ? node.deleteQuiz({ ...draft, id: crypto.randomUUID() }, onceOf(key, 'delete'))
        : node.publishQuiz({ ...draft, nowMs: NOW_MS }, onceOf(key, 'publish')),
    );
    expect(refusalOf(told[0])).toMatch(/not-found|conflict/);
    const { state } = await fixture.any.findOwnQuiz(draft);
    expect(told.slice(1)).toMatchObject([{ state: 'open' }, { state: 'open' }]);
    expect(state).toBe('open');
  }
}, 30_000);

test('[R-10] keys past their time are forgotten on three nodes at once, beside those that come', async () => {
  const streamId = await newStream(fixture);
  const event = { type: 'custom', data: null };
  const input = { streamId, producer: PRODUCER, event, nowMs: NOW_MS };
  const outsider = await fixture.outsider();
  await outsider.query(
    `insert into idempotency_keys (owner, key, fingerprint, output, created)
     select $1, 'old ' || n, 'the same', 'null', $2 from generate_series(0, 299) n`,
    [PRODUCER, NOW_MS],
  );
  const laterMs = NOW_MS + IDEMPOTENCY_MS + 1;
  const told = await Promise.all(
    fixture.nodes.flatMap((node) => [
      node.forgetIdempotencyKeys({ nowMs: laterMs }),
      // Both new ones and such as are being forgotten at this moment.
      ...Array.from({ length: 12 }, (_, n) => {
        const key = n % 2 === 0 ? `old ${n}` : `new ${n}`;
        return node.recordProducerEvent(input, onceOf(key, 'later', laterMs));
      }),
    ]),
  );
  expect(told).toHaveLength(3 * 13);
  await fixture.any.forgetIdempotencyKeys({ nowMs: laterMs });
  expect(await eventsWaiting(streamId)).toBe(12);
  const { rows } = await outsider.query('select key from idempotency_keys where created < $1', [
    laterMs,
  ]);
  expect(rows).toEqual([]);
}, 30_000);

test('[A-9] of three accounts with one e-mail at once, one is made', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const told = await onAll(fixture, (node) => {
      const uuid = crypto.randomUUID();
      const user = { uuid, email: `${round}@example.org`, name: 'Somebody', created: NOW_MS };
      const token = { id: uuid, name: 'first', prefix: 'fb_', hash: uuid };
      return node.createAccount({ user, token, nowMs: NOW_MS });
    });
    expect(refusedKinds(told)).toEqual(['conflict', 'conflict']);
  }
}, 30_000);

test('[L-13] limits hold when three nodes come to them at once', async () => {
  const streamId = await newStream(fixture);
  const outsider = await fixture.outsider();
  await outsider.query(
    `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal)
     select 'many ' || n, 1000000 + n, $1, 'draft', '?', '["a","b"]', 0, 1000, 'auto'
     from generate_series(1, 1999) n`,
    [streamId],
  );
  await outsider.query(
    `insert into api_tokens (id, number, account, name, prefix, hash, created)
     select 'many ' || n, 1000000 + n, $1, 'one', 'fb_', 'hash ' || n, 0
     from generate_series(1, 98) n`,
    [PRODUCER],
  );
  const quizzes = await onAll(fixture, (node) =>
    node.createQuiz({ id: crypto.randomUUID(), producer: PRODUCER, streamId, quiz: QUIZ }),
  );
  const tokens = await onAll(fixture, (node) => {
    const id = crypto.randomUUID();
    const token = { id, name: 'one', prefix: 'fb_', hash: id };
    return node.createApiToken({ account: PRODUCER, token, nowMs: NOW_MS });
  });
  for (const told of [quizzes, tokens]) {
    expect(refusedKinds(told)).toEqual(['conflict', 'conflict']);
  }
});

test('[A-7] when tokens were last used is noted on three nodes at once, and never goes back', async () => {
  const ids = ['a', 'b', 'c', 'd'];
  const { uuid } = await accountWith(ids);
  for (let round = 0; round < ROUNDS; round++) {
    const told = await onAll(fixture, (node, index) =>
      node.touchApiTokens({
        uses: shuffled(ids, fixture.random).map((id) => [id, NOW_MS + 10 * round + index] as const),
      }),
    );
    expect(told.filter((one) => one instanceof Error)).toEqual([]);
  }
  const tokens = await fixture.any.listApiTokens({ account: uuid });
  const last = NOW_MS + 10 * (ROUNDS - 1) + 2;
  expect(tokens.map(({ lastUsed }) => lastUsed)).toEqual([last, last, last, last]);
}, 30_000);

async function accountWith(ids: readonly string[]) {
  const uuid = crypto.randomUUID();
  const user = { uuid, email: `${uuid}@example.org`, name: 'Somebody', created: NOW_MS };
  const tokenOf = (id: string) => ({ id, name: 'one', prefix: 'fb_', hash: `${uuid} ${id}` });
  const [first = '', ...more] = ids;
  await fixture.any.createAccount({ user, token: tokenOf(first), nowMs: NOW_MS });
  for (const id of more) {
    await fixture.any.createApiToken({ account: uuid, token: tokenOf(id), nowMs: NOW_MS });
  }
  return { uuid };
}

test('[T-15] [O-5] nodes that rotate the signing keys at once rotate them once', async () => {
  let nowMs = NOW_MS;
  const rotate = (force: boolean) =>
    onAll(fixture, (node) =>
      node.rotateSigningKeys({
        offered: { kid: crypto.randomUUID(), privateJwk: '{}' },
        force,
        nowMs,
      }),
    );
  for (let round = 0; round < ROUNDS; round++) {
    // The first of all is due, the others are asked for.
    const told = await rotate(round > 0);
    for (const keys of told as unknown[]) expect(keys).toEqual(told[0]);
    const keys = await fixture.any.listSigningKeys({});
    expect(keys).toHaveLength(Math.min(round + 1, 2));
    nowMs += PUBLISH_AHEAD_MS;
    expect(signingKeyAt(keys, nowMs)).toEqual(keys.at(-1));
    nowMs += 2 * PUBLISH_AHEAD_MS;
  }
}, 30_000);

test('[T-7] [N-3] a secret that is made on three nodes at once is one secret', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const told = await onAll(fixture, (node) =>
      node.keepSecret({ name: `secret ${round}`, offered: crypto.randomUUID() }),
    );
    expect(new Set(told).size).toBe(1);
  }
});

test('[T-8] [T-9] [N-16] viewers who ask on three nodes at once have a seat each, and one on all', async () => {
  const leases = fixture.nodes.map((node) => new SeatLeases(node));
  for (let round = 0; round < ROUNDS; round++) {
    const streamId = await newStream(fixture);
    const viewers = Array.from({ length: 80 }, (_, n) => ({ streamId, viewer: `viewer ${n}` }));
    const told = await Promise.all(
      leases.flatMap((node) => {
        const asked = shuffled(viewers, fixture.random);
        return [asked.slice(0, 40), asked.slice(30)].map(async (some) => {
          await Bun.sleep(fixture.random() * 3);
          const seats = await node.assign(some);
          return some.map(({ viewer }, index) => [viewer, seats[index]] as const);
        });
      }),
    );
    const seatOf = new Map(told.flat());
    for (const [viewer, seat] of told.flat()) expect(seat).toBe(seatOf.get(viewer));
    expect(seatOf.size).toBe(80);
    expect(new Set(seatOf.values()).size).toBe(80);
  }
}, 30_000);

test('[N-19] [T-1] viewers get their seats while the producer’s transaction is stalled', async () => {
  const streamId = await newStream(fixture);
  const producer = await openSession({ url: fixture.url, connectMs: 1_000 });
  await producer.run('begin');
  await producer.query(`select id from streams where id = $1 ${producer.locks.update}`, [streamId]);
  const seats = await new SeatLeases(fixture.any).assign([
    { streamId, viewer: 'ann' },
    { streamId, viewer: 'bob' },
  ]);
  expect(seats).toEqual([0, 1]);
  expect(await producer.run('rollback')).toBe('ROLLBACK');
  await producer.end();
});
