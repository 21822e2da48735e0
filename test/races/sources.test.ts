import { afterAll, beforeAll, expect, test } from 'bun:test';
import { intervalStartMs } from '../../protocol/interval.ts';
import {
  FIRST_INTERVAL,
  type Ground,
  newStream,
  openGround,
  PRODUCER,
  sealNow,
  sealTo,
} from '../support/database/race-fixture.ts';
import { type SourcesGround, sourcesContract } from '../support/media/ingest-contract.ts';

// Sources of streams, on several nodes that meet in PostgreSQL.

async function postgresGround(): Promise<SourcesGround> {
  const ground = await openGround();
  return {
    nodes: ground.nodes,
    producer: PRODUCER,
    newStream: () => newStream(ground),
    close: () => ground.close(),
  };
}

sourcesContract('PostgreSQL', postgresGround);

let ground: Ground;
beforeAll(async () => {
  ground = await openGround();
}, 30_000);
afterAll(() => ground.close());

test('[N-21] [M-7] a producer who stalls holds up nothing; the end that is due comes after that', async () => {
  const id = await newStream(ground);
  const own = { id, producer: PRODUCER };
  const statusOf = async () => (await ground.any.findOwnStream(own)).status;
  await sealTo(ground.any, FIRST_INTERVAL);
  const key = await ground.any.keepStreamKey({ ...own, offered: 'sk_stalled' });
  const nowMs = intervalStartMs(FIRST_INTERVAL + 1);
  const source = { key, session: 'first', kind: 'rtmp' as const, nowMs, graceMs: 250 };
  expect(await ground.any.openSource(source)).toMatchObject({ outcome: 'opened' });
  const producer = await ground.outsider();
  await producer.query('begin');
  await producer.query('select id from streams where id = $1 for no key update', [id]);
  expect(await sealNow(ground.any, FIRST_INTERVAL + 1)).toMatchObject({ outcome: 'sealed' });
  expect(await sealNow(ground.any, FIRST_INTERVAL + 2)).toMatchObject({ outcome: 'sealed' });
  expect(await statusOf()).toBe('STREAMING');
  await producer.query('rollback');
  expect(await sealNow(ground.any, FIRST_INTERVAL + 3)).toMatchObject({ outcome: 'sealed' });
  expect(await statusOf()).toBe('ENDED');
});

test('[M-1] [N-16] a producer who changes a key keeps no viewer from taking a seat', async () => {
  const id = await newStream(ground);
  const producer = await ground.outsider();
  await producer.query('begin');
  await producer.query('update streams set ingest_key = $2 where id = $1', [id, 'sk_changed']);
  const viewer = await ground.outsider();
  await viewer.query("set lock_timeout = '500ms'");
  await viewer.query('insert into seats (stream_id, viewer, seat) values ($1, $2, 0)', [id, 'ada']);
  await producer.query('rollback');
});
