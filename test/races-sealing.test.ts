import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client } from 'pg';
import { intervalStartMs } from '../protocol/interval.ts';
import {
  type SealedBody,
  type SealOutcome,
  sealingProcedures,
} from '../server/feed/sealing-sql.ts';
import type { TheRecord } from '../server/procedures.ts';
import { openSession } from '../server/sql/postgres.ts';
import type { Tx } from '../server/sql/procedure.ts';
import {
  FIRST_INTERVAL,
  type Ground,
  NODES,
  NOW_MS,
  newQuiz,
  newStream,
  openGround,
  PRODUCER,
  sealTo,
  toldOf,
} from './race-ground.ts';

// Sealers who meet in PostgreSQL, and transactions that stall while somebody seals.

const STREAMS = 4;
const EVENTS = 60;
const INTERVALS = 60;
// Far more than a sealing takes, and less than it would wait for a lock.
const STUCK_MS = 3_000;

let ground: Ground;
beforeAll(async () => {
  ground = await openGround();
}, 30_000);
afterAll(() => ground.close());

let sealedTo = FIRST_INTERVAL;
/** The next interval to seal; all tests share one watermark. */
const next = () => ++sealedTo;

function sealNow(node: TheRecord, interval: number): Promise<SealOutcome> {
  const nowMs = intervalStartMs(interval + 1);
  return node.sealInterval({ after: interval - 1, interval, nowMs, transients: [] });
}

/** A transaction of a process that has stopped in the middle, holding the locks of these statements. */
async function stalled(...statements: [text: string, ...params: unknown[]][]): Promise<Client> {
  const client = await ground.outsider();
  await client.query('begin');
  for (const [text, ...params] of statements) await client.query(text, params);
  return client;
}

/** What becomes of a sealing, or `stuck` when it waits for the locks of somebody who does not move. */
function orStuck<T>(sealing: Promise<T>): Promise<T | 'stuck'> {
  return Promise.race([sealing, Bun.sleep(STUCK_MS).then(() => 'stuck' as const)]);
}

async function sendEvent(
  node: TheRecord,
  streamId: string,
  data: { number: number },
): Promise<void> {
  const event = { type: 'custom', data };
  await node.recordProducerEvent({ streamId, producer: PRODUCER, event, nowMs: NOW_MS });
}

test('[I-1] [I-2] [N-4] of three sealers one seals an interval, and every event is in one, in order', async () => {
  await sealTo(ground.any, next());
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => newStream(ground)));
  const accepted = new Map<string, number[]>(streams.map((id) => [id, []]));
  const producing = streams.map(async (streamId, at) => {
    for (let number = 0; number < EVENTS; number++) {
      await sendEvent(ground.nodes[(at + number) % NODES] as TheRecord, streamId, { number });
      accepted.get(streamId)?.push(number);
    }
  });
  const made: SealedBody[][] = [];
  const outcomes = { sealed: 0, busy: 0, behind: 0 };
  const sealers = ground.nodes.map(async (node) => {
    // Each knows the watermark as it was some time ago, and tries what comes after that.
    for (let after = sealedTo; after < FIRST_INTERVAL + INTERVALS; ) {
      const interval = after + 1 + Math.floor(ground.random() * 2);
      const nowMs = intervalStartMs(interval + 1);
      const sealing = await node.sealInterval({ after, interval, nowMs, transients: [] });
      outcomes[sealing.outcome]++;
      if (sealing.outcome === 'sealed') {
        made.push([...sealing.bodies]);
        after = interval;
      } else if (sealing.outcome === 'behind') {
        expect(sealing.watermark).toBeGreaterThan(after);
        after = sealing.watermark;
      }
      await Bun.sleep(ground.random() * 3);
    }
  });
  await Promise.all([...sealers, ...producing]);
  sealedTo = await ground.any.readWatermark({});
  made.push([...(await sealTo(ground.any, next()))]);
  expect(outcomes.sealed).toBeLessThanOrEqual(INTERVALS + 1);
  expect(outcomes.busy + outcomes.behind).toBeGreaterThan(0);
  const bodies = made.flat().toSorted((a, b) => a.interval - b.interval);
  for (const streamId of streams) {
    const own = bodies.filter((body) => body.streamId === streamId);
    expect(new Set(own.map(({ interval }) => interval)).size).toBe(own.length);
    const told = own.flatMap(({ body }) => JSON.parse(body).events.map(numberIn));
    expect(told).toEqual(accepted.get(streamId) ?? []);
    // What the sealers were told is what everybody reads.
    expect((await toldOf(ground, streamId)).map(numberIn)).toEqual(told);
  }
}, 60_000);

function numberIn({ data }: { data: { number?: number } | null }): number {
  return data?.number ?? -1;
}

test('[I-1] [F-12] two who seal the same interval at once: one does, the other hears it', async () => {
  for (let round = 0; round < 30; round++) {
    await sealTo(ground.any, sealedTo);
    const interval = next();
    const told = await Promise.all(ground.nodes.map((node) => sealNow(node, interval)));
    const sealed = told.filter(({ outcome }) => outcome === 'sealed');
    expect(sealed).toHaveLength(1);
    const watermark = await ground.any.readWatermark({});
    expect(watermark).toBe(interval);
    expect(await sealNow(ground.any, interval)).toEqual({ outcome: 'behind', watermark });
  }
}, 30_000);

test('[N-4] who finds another sealing under way hears so at once, and does not wait for it', async () => {
  await sealTo(ground.any, sealedTo);
  const other = await stalled(['select id from watermark for no key update']);
  expect(await orStuck(sealNow(ground.any, sealedTo + 1))).toEqual({ outcome: 'busy' });
  await other.query('rollback');
  expect(await sealNow(ground.any, next())).toMatchObject({ outcome: 'sealed' });
});

test('[N-21] [P-14] a producer who stalls in the middle holds up neither the feed nor its own events', async () => {
  await sealTo(ground.any, sealedTo);
  const [held, free] = [await newStream(ground), await newStream(ground)];
  const endsAt = intervalStartMs(sealedTo + 1);
  for (const id of [held, free]) {
    await sendEvent(ground.any, id, { number: 1 });
    await ground.any.endStream({ id, producer: PRODUCER, atMs: endsAt, nowMs: endsAt - 1 });
  }
  const producer = await stalled(['select id from streams where id = $1 for no key update', held]);
  const sealing = await orStuck(sealNow(ground.any, next()));
  expect(sealing).toMatchObject({ outcome: 'sealed' });
  const statusOf = async (id: string) =>
    (await ground.any.findOwnStream({ id, producer: PRODUCER })).status;
  expect([await statusOf(free), await statusOf(held)]).toEqual(['ENDED', 'CREATED']);
  for (const id of [held, free]) {
    expect((await toldOf(ground, id)).map(numberIn)).toEqual([1]);
  }
  await producer.query('rollback');
  await sealNow(ground.any, next());
  expect(await statusOf(held)).toBe('ENDED');
});

test('[N-21] [Q-16] answers that stall on their way into a quiz hold up its close, and nothing else', async () => {
  await sealTo(ground.any, sealedTo);
  const nowMs = intervalStartMs(sealedTo);
  const quiz = await newQuiz(ground, await newStream(ground), nowMs);
  const other = await newQuiz(ground, await newStream(ground), nowMs);
  const answering = await stalled(
    ['select number from quizzes where number = $1 for share', quiz.number],
    ['insert into answers (quiz, seat, choice, received) values ($1, 0, 0, 0)', quiz.number],
  );
  sealedTo = quiz.closeInterval;
  expect(await orStuck(sealTo(ground.any, sealedTo))).not.toBe('stuck');
  const rowOf = (id: string) => ground.any.findOwnQuiz({ id, producer: PRODUCER });
  expect(await rowOf(other.id)).toMatchObject({ state: 'revealed', counts: [0, 0, 0] });
  expect(await rowOf(quiz.id)).toMatchObject({ state: 'open' });
  await answering.query('commit');
  await sealNow(ground.any, next());
  expect(await rowOf(quiz.id)).toMatchObject({ state: 'revealed', counts: [1, 0, 0] });
});

test('[N-21] [W-5] winners who stall on their way into a round hold up its count, and nothing else', async () => {
  await sealTo(ground.any, sealedTo);
  const streamId = await newStream(ground);
  const own = { id: crypto.randomUUID(), streamId, producer: PRODUCER };
  await ground.any.requestWinners({ ...own, nowMs: intervalStartMs(sealedTo) });
  await sealNow(ground.any, next());
  const claiming = await stalled(
    ['select number from winners_rounds where id = $1 for share', own.id],
    ['insert into winners select number, 0, 0 from winners_rounds where id = $1', own.id],
  );
  sealedTo += 4;
  expect(await orStuck(sealTo(ground.any, sealedTo))).not.toBe('stuck');
  expect(await ground.any.listWinnersRounds(own)).toMatchObject([{ state: 'open' }]);
  await claiming.query('commit');
  await sealNow(ground.any, next());
  expect(await ground.any.listWinnersRounds(own)).toMatchObject([{ state: 'closed', count: 1 }]);
});

test('[F-13] [N-17] ten thousand idle streams cost a sealing two statements, and no look at them', async () => {
  const outsider = await ground.outsider();
  await outsider.query(
    `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status, created)
     select 'idle ' || n, 1000000 + n, $1, 'Idle', 0, 0, 'STREAMING', 0 from generate_series(1, 10000) n`,
    [PRODUCER],
  );
  await outsider.query(
    `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal,
       created, close_interval, game, counts)
     select 'idle ' || n, 1000000 + n, 'idle ' || n, 'revealed', '?', '["a","b"]', 0, 1000, 'auto',
       0, 1, 0, '[0,0]' from generate_series(1, 10000) n`,
  );
  await sealTo(ground.any, next());
  const session = await openSession({ url: ground.url, connectMs: 1_000 });
  let statements = 0;
  let blocks = 0;
  const query: Tx['query'] = async (text, params) => {
    statements++;
    const [plan] = await session.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, buffers, format json) ${text}`,
      params,
    );
    const [{ Plan }] = JSON.parse(plan?.['QUERY PLAN'] ?? '');
    blocks += Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
    // Carried out by `explain analyze`, but told of in the plan alone: one row was changed.
    return Object.assign([], { affected: 1 });
  };
  const sealing = { after: sealedTo, interval: sealedTo + 1, nowMs: NOW_MS, transients: [] };
  await session.run('begin');
  const tx = { rows: session.rows, locks: session.locks, query };
  expect(await sealingProcedures.sealInterval.run(tx, sealing)).toMatchObject({
    outcome: 'sealed',
  });
  await session.run('rollback');
  await session.end();
  console.log(`idle sealing: ${statements} statements, ${blocks} blocks`);
  expect(statements).toBe(2);
  expect(blocks).toBeLessThan(100);
});
