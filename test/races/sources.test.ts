import { afterAll, beforeAll, expect, test } from 'bun:test';
import { intervalStartMs } from '../../protocol/interval.ts';
import {
  FIRST_INTERVAL,
  type Fixture,
  newStream,
  openFixture,
  PRODUCER,
  sealNext,
  sealTo,
} from '../support/database/race-fixture.ts';
import { type SourcesFixture, sourcesContract } from '../support/media/ingest-contract.ts';

// Stream sources on several nodes with one PostgreSQL.

async function postgresFixture(): Promise<SourcesFixture> {
  const fixture = await openFixture();
  return {
    nodes: fixture.nodes,
    producer: PRODUCER,
    newStream: () => newStream(fixture),
    close: () => fixture.close(),
  };
}

sourcesContract('PostgreSQL', postgresFixture);

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
}, 30_000);
afterAll(() => fixture.close());

test('[N-21] [M-7] a stalled producer transaction delays no sealing, and the due end follows it', async () => {
  const id = await newStream(fixture);
  const own = { id, producer: PRODUCER };
  const statusOf = async () => (await fixture.firstNode.findOwnStream(own)).status;
  await sealTo(fixture.firstNode, FIRST_INTERVAL);
  const key = await fixture.firstNode.keepStreamKey({ ...own, offered: 'sk_stalled' });
  const nowMs = intervalStartMs(FIRST_INTERVAL + 1);
  const source = { key, session: 'first', kind: 'rtmp' as const, nowMs, graceMs: 250 };
  expect(await fixture.firstNode.openSource(source)).toMatchObject({ outcome: 'opened' });
  const producer = await fixture.openClient();
  await producer.query('begin');
  await producer.query('select id from streams where id = $1 for no key update', [id]);
  expect(await sealNext(fixture.firstNode, FIRST_INTERVAL + 1)).toMatchObject({
    outcome: 'sealed',
  });
  expect(await sealNext(fixture.firstNode, FIRST_INTERVAL + 2)).toMatchObject({
    outcome: 'sealed',
  });
  expect(await statusOf()).toBe('STREAMING');
  await producer.query('rollback');
  expect(await sealNext(fixture.firstNode, FIRST_INTERVAL + 3)).toMatchObject({
    outcome: 'sealed',
  });
  expect(await statusOf()).toBe('ENDED');
});

test('[M-1] [N-16] a transaction that changes the stream key does not block new seats', async () => {
  const id = await newStream(fixture);
  const producer = await fixture.openClient();
  await producer.query('begin');
  await producer.query('update streams set ingest_key = $2 where id = $1', [id, 'sk_changed']);
  const viewer = await fixture.openClient();
  await viewer.query("set lock_timeout = '500ms'");
  await viewer.query('insert into seats (stream_id, viewer, seat) values ($1, $2, 0)', [id, 'ada']);
  await producer.query('rollback');
});
