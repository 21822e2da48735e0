import { afterAll, beforeAll, expect, test } from 'bun:test';
import { procedures } from '../../server/app/procedures.ts';
import { SeatLeases } from '../../server/auth/viewer-tokens/seat-leases.ts';
import { PUBLISH_AHEAD_MS, signingKeyAt } from '../../server/auth/viewer-tokens/signing-keys.ts';
import { IDEMPOTENCY_TTL_MS } from '../../server/storage/sql/idempotency.ts';
import { explainingTx, type PlanNode, sumOfPlan } from '../support/database/query-plans.ts';
import {
  errorKindOf,
  errorKindsIn,
  NOW_MS,
  PRODUCER,
  QUIZ,
  RaceFixture,
} from '../support/database/race-fixture.ts';

// Concurrent writes of accounts, keys, idempotency keys and seats on several nodes.

const ROUNDS = 20;

const fixture = new RaceFixture();
beforeAll(() => fixture.open(), 30_000);
afterAll(() => fixture.close());

const idempotencyOf = (key: string, fingerprint = 'the same', nowMs = NOW_MS) => {
  return { owner: PRODUCER, key, fingerprint, nowMs };
};

async function countOutboxEvents(streamId: string): Promise<number> {
  const outsider = await fixture.openClient();
  const { rows } = await outsider.query('select count(*) as n from outbox where stream_id = $1', [
    streamId,
  ]);
  return Number(rows[0].n);
}

test('[R-11] [N-3] one idempotency key on three nodes concurrently takes effect once, with the same result for all', async () => {
  const streamId = await fixture.newStream();
  for (let round = 0; round < ROUNDS; round++) {
    const idempotency = idempotencyOf(`event ${round}`);
    const event = { type: 'custom', data: { round } };
    const input = { streamId, producer: PRODUCER, event, nowMs: NOW_MS };
    const outcomes = await fixture.onAll((node) => node.recordProducerEvent(input, idempotency));
    expect(outcomes[0]).toMatchObject({ streamId, type: 'custom' });
    for (const outcome of outcomes as unknown[]) expect(outcome).toEqual(outcomes[0]);
    expect(await countOutboxEvents(streamId)).toBe(round + 1);
  }
}, 30_000);

test('[R-12] of concurrent requests with one idempotency key and different contents, one takes effect', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const streamId = await fixture.newStream();
    const outcomes = await fixture.onAll((node, index) =>
      node.recordProducerEvent(
        { streamId, producer: PRODUCER, event: { type: 'custom', data: { index } }, nowMs: NOW_MS },
        idempotencyOf(`other ${round}`, `request ${index}`),
      ),
    );
    expect(errorKindsIn(outcomes)).toEqual(['conflict', 'conflict']);
    expect(await countOutboxEvents(streamId)).toBe(1);
  }
}, 30_000);

test('[R-13] an idempotency key whose first request is refused is free for a concurrent second one', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const streamId = await fixture.newStream();
    const draft = await fixture.newDraft(streamId);
    const key = `refused ${round}`;
    // One deletes a missing quiz with the key of the two that publish: it is refused, first or last.
    const outcomes = await fixture.onAll<unknown>((node, index) =>
      index === 0
        ? node.deleteQuiz({ ...draft, id: crypto.randomUUID() }, idempotencyOf(key, 'delete'))
        : node.publishQuiz({ ...draft, nowMs: NOW_MS }, idempotencyOf(key, 'publish')),
    );
    expect(errorKindOf(outcomes[0])).toMatch(/not-found|conflict/);
    const { state } = await fixture.store.findOwnQuiz(draft);
    expect(outcomes.slice(1)).toMatchObject([{ state: 'open' }, { state: 'open' }]);
    expect(state).toBe('open');
  }
}, 30_000);

test('[R-10] expired idempotency keys are deleted on three nodes concurrently with new requests', async () => {
  const streamId = await fixture.newStream();
  const event = { type: 'custom', data: null };
  const input = { streamId, producer: PRODUCER, event, nowMs: NOW_MS };
  const outsider = await fixture.openClient();
  await outsider.query(
    `insert into idempotency_keys (owner, key, fingerprint, output, created)
     select $1, 'old ' || n, 'the same', 'null', $2 from generate_series(0, 299) n`,
    [PRODUCER, NOW_MS],
  );
  const laterMs = NOW_MS + IDEMPOTENCY_TTL_MS + 1;
  const outcomes = await Promise.all(
    fixture.nodes.flatMap((node) => [
      node.deleteExpiredIdempotencyKeys({ nowMs: laterMs }),
      // New keys and keys that are being deleted at this moment.
      ...Array.from({ length: 12 }, (_, n) => {
        const key = n % 2 === 0 ? `old ${n}` : `new ${n}`;
        return node.recordProducerEvent(input, idempotencyOf(key, 'later', laterMs));
      }),
    ]),
  );
  expect(outcomes).toHaveLength(3 * 13);
  await fixture.store.deleteExpiredIdempotencyKeys({ nowMs: laterMs });
  expect(await countOutboxEvents(streamId)).toBe(12);
  const { rows } = await outsider.query('select key from idempotency_keys where created < $1', [
    laterMs,
  ]);
  expect(rows).toEqual([]);
}, 30_000);

test('[A-9] of three concurrent accounts with one e-mail address, one is created', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const outcomes = await fixture.onAll((node) => {
      const uuid = crypto.randomUUID();
      const user = { uuid, email: `${round}@example.org`, name: 'Somebody', created: NOW_MS };
      const token = { id: uuid, name: 'first', prefix: 'fb_', hash: uuid };
      return node.createAccount({ user, token, nowMs: NOW_MS });
    });
    expect(errorKindsIn(outcomes)).toEqual(['conflict', 'conflict']);
  }
}, 30_000);

test('[L-13] limits hold when three nodes reach them concurrently', async () => {
  const streamId = await fixture.newStream();
  const outsider = await fixture.openClient();
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
  const quizzes = await fixture.onAll((node) =>
    node.createQuiz({ id: crypto.randomUUID(), producer: PRODUCER, streamId, quiz: QUIZ }),
  );
  const tokens = await fixture.onAll((node) => {
    const id = crypto.randomUUID();
    const token = { id, name: 'one', prefix: 'fb_', hash: id };
    return node.createApiToken({ account: PRODUCER, by: null, token, nowMs: NOW_MS });
  });
  for (const outcomes of [quizzes, tokens]) {
    expect(errorKindsIn(outcomes)).toEqual(['conflict', 'conflict']);
  }
});

test('[A-7] the last use of a token never goes back when three nodes record it concurrently', async () => {
  const ids = ['a', 'b', 'c', 'd'];
  const { uuid } = await accountWith(ids);
  for (let round = 0; round < ROUNDS; round++) {
    const outcomes = await fixture.onAll((node, index) =>
      node.recordServiceTokenUses({
        uses: fixture.shuffled(ids).map((id) => [id, NOW_MS + 10 * round + index] as const),
      }),
    );
    expect(outcomes.filter((outcome) => outcome instanceof Error)).toEqual([]);
  }
  const tokens = await fixture.store.listApiTokens({ account: uuid });
  const last = NOW_MS + 10 * (ROUNDS - 1) + 2;
  expect(tokens.map(({ lastUsed }) => lastUsed)).toEqual([last, last, last, last]);
}, 30_000);

async function accountWith(ids: readonly string[]) {
  const uuid = crypto.randomUUID();
  const user = { uuid, email: `${uuid}@example.org`, name: 'Somebody', created: NOW_MS };
  const tokenOf = (id: string) => ({ id, name: 'one', prefix: 'fb_', hash: `${uuid} ${id}` });
  const [first = '', ...more] = ids;
  await fixture.store.createAccount({ user, token: tokenOf(first), nowMs: NOW_MS });
  for (const id of more) {
    await fixture.store.createApiToken({
      account: uuid,
      by: null,
      token: tokenOf(id),
      nowMs: NOW_MS,
    });
  }
  return { uuid };
}

test('[T-15] [O-5] nodes that rotate the signing keys concurrently rotate them once', async () => {
  let nowMs = NOW_MS;
  const rotate = (force: boolean) =>
    fixture.onAll((node) =>
      node.rotateSigningKeys({
        offered: { kid: crypto.randomUUID(), privateJwk: '{}' },
        force,
        nowMs,
      }),
    );
  for (let round = 0; round < ROUNDS; round++) {
    // The first rotation is due, the others are forced.
    const outcomes = await rotate(round > 0);
    for (const keys of outcomes as unknown[]) expect(keys).toEqual(outcomes[0]);
    const keys = await fixture.store.listSigningKeys({});
    expect(keys).toHaveLength(Math.min(round + 1, 2));
    nowMs += PUBLISH_AHEAD_MS;
    expect(signingKeyAt(keys, nowMs)).toEqual(keys.at(-1));
    nowMs += 2 * PUBLISH_AHEAD_MS;
  }
}, 30_000);

test('[T-7] [N-3] a secret that three nodes offer concurrently is the same for all', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const outcomes = await fixture.onAll((node) =>
      node.keepSecret({ name: `secret ${round}`, offered: crypto.randomUUID() }),
    );
    expect(new Set(outcomes).size).toBe(1);
  }
});

test('[T-8] [T-9] [N-16] each viewer gets one seat of its own when three nodes assign concurrently', async () => {
  const leases = fixture.nodes.map((node) => new SeatLeases(node));
  for (let round = 0; round < ROUNDS; round++) {
    const streamId = await fixture.newStream();
    const viewers = Array.from({ length: 80 }, (_, n) => ({ streamId, viewer: `viewer ${n}` }));
    const outcomes = await Promise.all(
      leases.flatMap((node) => {
        const requested = fixture.shuffled(viewers);
        return [requested.slice(0, 40), requested.slice(30)].map(async (batch) => {
          await Bun.sleep(fixture.random() * 3);
          const seats = await node.assign(batch);
          return batch.map(({ viewer }, index) => [viewer, seats[index]] as const);
        });
      }),
    );
    const seatOf = new Map(outcomes.flat());
    for (const [viewer, seat] of outcomes.flat()) expect(seat).toBe(seatOf.get(viewer));
    expect(seatOf.size).toBe(80);
    expect(new Set(seatOf.values()).size).toBe(80);
  }
}, 30_000);

test('[N-19] [T-1] viewers get seats while a transaction of the producer is stalled', async () => {
  const streamId = await fixture.newStream();
  const producer = await fixture.openSession();
  await producer.run('begin');
  await producer.query(`select id from streams where id = $1 ${producer.locks.update}`, [streamId]);
  const seats = await new SeatLeases(fixture.store).assign([
    { streamId, viewer: 'ann' },
    { streamId, viewer: 'bob' },
  ]);
  expect(seats).toEqual([0, 1]);
  expect(await producer.run('rollback')).toBe('ROLLBACK');
});

test('[T-1] [T-8] seats are found by viewer, with a plan that PostgreSQL made when there were few', async () => {
  const streamId = await fixture.newStream();
  const client = await fixture.openClient();
  const insertSeats = (from: number, to: number) =>
    client.query(
      `insert into seats (stream_id, viewer, seat)
       select $1, 'viewer ' || n, n from generate_series($2::int, $3::int) n`,
      [streamId, from, to],
    );
  await client.query('truncate seats');
  await insertSeats(1, 5);
  await client.query('analyze seats');
  const session = await fixture.openSession();
  await session.run('set plan_cache_mode = force_generic_plan');
  let rowsRead = 0;
  const tx = explainingTx(session, (plan) => {
    rowsRead += seatsRead(plan);
  });
  await insertSeats(6, 2_000);
  const viewers = Array.from({ length: 20 }, (_, n) => ({ streamId, viewer: `viewer ${n + 1}` }));
  const found = await procedures.findSeats.run(tx, viewers);
  expect(found).toEqual(viewers.map((_, n) => n + 1));
  expect(rowsRead).toBe(20);
});

/** The rows that a plan reads from the table, those that a filter removes included. */
const seatsRead = (plan: PlanNode) =>
  sumOfPlan(plan, (node) => {
    const rows = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
    return node['Relation Name'] === 'seats' ? rows * node['Actual Loops'] : 0;
  });

test('[H-20] nodes that shorten one event log at the same time remove only what exceeds 10,000 events', async () => {
  const outsider = await fixture.openClient();
  for (let round = 0; round < ROUNDS; round++) {
    await outsider.query(
      `insert into happenings (at, account, type, key, stream_id, data)
       select n, 'a long log', 'quiz.closed', n, 'a stream', '{}' from generate_series(1, 10130) n
       on conflict do nothing`,
    );
    const removed = await fixture.onAll((node) => node.trimEventLog({ after: '' }));
    while ((await fixture.nodes[0]?.trimEventLog({ after: '' }))?.removed) {}
    expect(errorKindsIn(removed)).toEqual([]);
    const { rows } = await outsider.query('select count(*) as n, min(at) as first from happenings');
    expect(rows).toEqual([{ n: '10000', first: '131' }]);
  }
  await outsider.query('delete from happenings');
}, 30_000);
