import { afterAll, beforeAll, expect, test } from 'bun:test';
import { intervalStartMs } from '../../protocol/interval.ts';
import { FIRST_INTERVAL, PRODUCER, RaceFixture } from '../support/database/race-fixture.ts';
import { sourcesContract } from '../support/media/ingest-contract.ts';

// Stream sources on several nodes with one PostgreSQL.

sourcesContract('PostgreSQL', async () => {
  const ownFixture = new RaceFixture();
  await ownFixture.open();
  return {
    nodes: ownFixture.nodes,
    producer: PRODUCER,
    newStream: () => ownFixture.newStream(),
    close: () => ownFixture.close(),
  };
});

const fixture = new RaceFixture();
beforeAll(() => fixture.open(), 30_000);
afterAll(() => fixture.close());

test('[N-21] [M-7] a stalled producer transaction delays no sealing, and the stream whose end is due ends after it', async () => {
  const id = await fixture.newStream();
  const own = { id, producer: PRODUCER };
  const statusOf = async () => (await fixture.store.findOwnStream(own)).status;
  await fixture.sealTo(FIRST_INTERVAL);
  const key = await fixture.store.keepStreamKey({ ...own, offered: 'sk_stalled' });
  const nowMs = intervalStartMs(FIRST_INTERVAL + 1);
  const source = {
    key,
    session: 'first',
    kind: 'rtmp' as const,
    nowMs,
    graceMs: 250,
    sourcesMax: 1,
  };
  expect(await fixture.store.openSource(source)).toMatchObject({ outcome: 'opened' });
  const producer = await fixture.openClient();
  await producer.query('begin');
  await producer.query('select id from streams where id = $1 for no key update', [id]);
  const sealed = { outcome: 'sealed' };
  expect(await fixture.sealNext(FIRST_INTERVAL + 1)).toMatchObject(sealed);
  expect(await fixture.sealNext(FIRST_INTERVAL + 2)).toMatchObject(sealed);
  expect(await statusOf()).toBe('STREAMING');
  await producer.query('rollback');
  expect(await fixture.sealNext(FIRST_INTERVAL + 3)).toMatchObject(sealed);
  expect(await statusOf()).toBe('ENDED');
});

test('[M-1] [N-16] a transaction that changes the stream key does not block new seats', async () => {
  const id = await fixture.newStream();
  const producer = await fixture.openClient();
  await producer.query('begin');
  await producer.query('update streams set ingest_key = $2 where id = $1', [id, 'sk_changed']);
  const viewer = await fixture.openClient();
  await viewer.query("set lock_timeout = '500ms'");
  await viewer.query('insert into seats (stream_id, viewer, seat) values ($1, $2, 0)', [id, 'ada']);
  await producer.query('rollback');
});
