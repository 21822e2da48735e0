import { afterAll, beforeAll, expect, test } from 'bun:test';
import { intervalStartMs } from '../../protocol/interval.ts';
import { procedures, type Store } from '../../server/app/procedures.ts';
import { startRoundDelays } from '../../server/domains/quizzes/winners-sql.ts';
import { endStreams } from '../../server/domains/streams/streams-sql.ts';
import type { SealedBody } from '../../server/realtime/feed/sealed-sql.ts';
import type { Tx } from '../../server/storage/sql/procedure.ts';
import { explainingTx, type PlanNode, sumOfPlan } from '../support/database/query-plans.ts';
import {
  FIRST_INTERVAL,
  NODES,
  NOW_MS,
  numberIn,
  PRODUCER,
  RaceFixture,
  sendEvent,
} from '../support/database/race-fixture.ts';

// Concurrent sealers with one PostgreSQL.

const STREAMS = 4;
const EVENTS = 60;
const INTERVALS = 60;

const fixture = new RaceFixture();
beforeAll(() => fixture.open(), 30_000);
afterAll(() => fixture.close());

let sealedTo = FIRST_INTERVAL;
/** The next interval to seal; all tests share one watermark. */
const nextInterval = () => ++sealedTo;

test('[N-23] a sealing that comes too late learns with which Redis the interval was sealed', async () => {
  const [node] = fixture.nodes as [Store];
  await fixture.sealTo(nextInterval());
  const after = sealedTo;
  const interval = nextInterval();
  const sealing = { after, interval, nowMs: intervalStartMs(interval + 1), transients: [] };
  const late = () => node.sealInterval({ ...sealing, dataSet: 'b' });
  expect(await node.sealInterval({ ...sealing, dataSet: 'a' })).toMatchObject({
    outcome: 'sealed',
  });
  expect(await late()).toEqual({ outcome: 'conflict', watermark: interval, dataSet: 'a' });
  // Without a name.
  await fixture.sealTo(nextInterval());
  expect(await late()).toEqual({ outcome: 'conflict', watermark: sealedTo });
});

test('[I-1] [I-2] [N-4] one of three sealers seals an interval, and every event is in one interval, in order', async () => {
  await fixture.sealTo(nextInterval());
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => fixture.newStream()));
  const accepted = new Map<string, number[]>(streams.map((id) => [id, []]));
  const producing = streams.map(async (streamId, index) => {
    for (let number = 0; number < EVENTS; number++) {
      await sendEvent(fixture.nodes[(index + number) % NODES] as Store, streamId, { number });
      accepted.get(streamId)?.push(number);
    }
  });
  const sealedBodies: SealedBody[][] = [];
  const outcomes = { sealed: 0, busy: 0, conflict: 0, 'other-timeline': 0 };
  const sealers = fixture.nodes.map(async (node) => {
    // Each sealer seals one or two intervals after the watermark that it knows, often outdated.
    for (let after = sealedTo; after < FIRST_INTERVAL + INTERVALS; ) {
      const interval = after + 1 + Math.floor(fixture.random() * 2);
      const nowMs = intervalStartMs(interval + 1);
      const sealing = await node.sealInterval({ after, interval, nowMs, transients: [] });
      outcomes[sealing.outcome]++;
      if (sealing.outcome === 'sealed') {
        sealedBodies.push([...sealing.bodies]);
        after = interval;
      } else if (sealing.outcome === 'conflict') {
        expect(sealing.watermark).toBeGreaterThan(after);
        after = sealing.watermark;
      }
      await Bun.sleep(fixture.random() * 3);
    }
  });
  await Promise.all([...sealers, ...producing]);
  sealedTo = await fixture.store.readWatermark({});
  sealedBodies.push([...(await fixture.sealTo(nextInterval()))]);
  expect(outcomes.sealed).toBeLessThanOrEqual(INTERVALS + 1);
  expect(outcomes.busy + outcomes.conflict).toBeGreaterThan(0);
  const bodies = sealedBodies.flat().toSorted((a, b) => a.interval - b.interval);
  for (const streamId of streams) {
    const own = bodies.filter((body) => body.streamId === streamId);
    expect(new Set(own.map(({ interval }) => interval)).size).toBe(own.length);
    const numbers = own.flatMap(({ body }) => JSON.parse(body).events.map(numberIn));
    expect(numbers).toEqual(accepted.get(streamId) ?? []);
    // The sealers got the bodies that everyone reads.
    expect((await fixture.readSealedEvents(streamId)).map(numberIn)).toEqual(numbers);
  }
}, 60_000);

test('[I-1] [F-12] of concurrent sealings of one interval, one succeeds, and a later one learns the watermark', async () => {
  for (let round = 0; round < 30; round++) {
    // Without effect, unless this test runs alone: then no interval is sealed yet.
    await fixture.sealTo(sealedTo);
    const interval = nextInterval();
    const outcomes = await Promise.all(
      fixture.nodes.map((node) => fixture.sealNext(interval, node)),
    );
    const notLost = outcomes.filter(({ outcome }) => outcome !== 'busy' && outcome !== 'conflict');
    expect(notLost).toMatchObject([{ outcome: 'sealed' }]);
    const watermark = await fixture.store.readWatermark({});
    expect(watermark).toBe(interval);
    expect(await fixture.sealNext(interval)).toEqual({ outcome: 'conflict', watermark });
  }
}, 30_000);

test('[F-13] [N-17] a sealing with 10,000 idle streams runs two statements and reads fewer than 100 blocks', async () => {
  const client = await fixture.openClient();
  await client.query(
    `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status, created)
     select 'idle ' || n, 1000000 + n, $1, 'Idle', 0, 0, 'STREAMING', 0 from generate_series(1, 10000) n`,
    [PRODUCER],
  );
  await client.query(
    `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal,
       created, close_interval, game, counts)
     select 'idle ' || n, 1000000 + n, 'idle ' || n, 'revealed', '?', '["a","b"]', 0, 1000, 'auto',
       0, 1, 0, '[0,0]' from generate_series(1, 10000) n`,
  );
  await fixture.sealTo(nextInterval());
  const session = await fixture.openSession();
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
    // `explain analyze` runs the statement but returns its plan; report one changed row.
    return Object.assign([], { affected: 1 });
  };
  const sealing = { after: sealedTo, interval: sealedTo + 1, nowMs: NOW_MS, transients: [] };
  await session.run('begin');
  const { rows, locks, timeline, insertNew, monotonicMs } = session;
  const tx = { rows, locks, timeline, insertNew, monotonicMs, query };
  expect(await procedures.sealInterval.run(tx, sealing)).toMatchObject({
    outcome: 'sealed',
  });
  await session.run('rollback');
  console.log(`idle sealing: ${statements} statements, ${blocks} blocks`);
  expect(statements).toBe(2);
  expect(blocks).toBeLessThan(100);
});

/** How often a plan reads the lists that its statement gets as parameters. */
const listReads = (plan: PlanNode) =>
  sumOfPlan(plan, (node) => (node['Node Type'] === 'Function Scan' ? node['Actual Loops'] : 0));

test('[P-14] [W-5] a sealing reads the list of what is due once in each statement, however old the statistics of PostgreSQL are', async () => {
  const client = await fixture.openClient();
  const now = intervalStartMs(sealedTo);
  await client.query(
    `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status, created, reported)
     select 'aged ' || n, 2000000 + n, $1, 'Aged', 0, 0, 'ENDED', 0, 1 from generate_series(1, 5000) n`,
    [PRODUCER],
  );
  await client.query(
    `insert into winners_rounds (id, number, stream_id, game, quizzes, state, count, requested)
     select 'aged ' || n, 2000000 + n, 'aged ' || n, 0, 0, 'closed', 0, 0 from generate_series(1, 5000) n`,
  );
  await client.query('analyze streams');
  await client.query('analyze winners_rounds');
  const due = `where id in (select 'aged ' || n from generate_series(1, 500) n)`;
  await client.query(`update streams set status = 'CREATED', ends_at = $1 ${due}`, [now - 1]);
  await client.query(`update winners_rounds set state = 'open', count = null ${due}`);
  const session = await fixture.openSession();
  let reads = 0;
  const tx = explainingTx(session, (plan) => {
    reads += listReads(plan);
  });
  const ids = Array.from({ length: 500 }, (_, n) => `aged ${n + 1}`);
  await session.run('begin');
  expect(await endStreams(tx, ids, now, now)).toHaveLength(500);
  // One locks the streams, one changes them.
  expect(reads).toBe(2);
  await startRoundDelays(tx, ids, sealedTo + 4);
  expect(reads).toBe(3);
  const [delayed] = await session.query<{ count: string }>(
    `select count(*) from winners_rounds where due_interval = $1`,
    [sealedTo + 4],
  );
  expect(Number(delayed?.count)).toBe(500);
  await session.run('rollback');
  await client.query(`update streams set status = 'ENDED', ends_at = null ${due}`);
  await client.query(`update winners_rounds set state = 'closed', count = 0 ${due}`);
}, 30_000);
