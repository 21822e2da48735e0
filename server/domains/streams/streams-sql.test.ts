import { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { newStreamSchema } from '../../../protocol/studio.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import { DATABASE_FILE } from '../../storage/sql/sqlite.ts';

const STREAM = uuidOf(1);
const NEW_STREAM = newStreamSchema.parse({ title: 'A show' });

let show: Show;
afterEach(() => show.close());

test('[P-14] a stream ends with the interval of its end time, however late sealing is', async () => {
  show = await openShow([STREAM]);
  const interval = intervalAt(SHOW_START_MS) + 10;
  const atMs = intervalStartMs(interval + 1);
  const own = { id: STREAM, producer: PRODUCER };
  await show.store.endStream({ ...own, atMs, nowMs: SHOW_START_MS });
  const nowMs = atMs + 200;
  await show.store.sealInterval({ after: -1, interval, nowMs, transients: [] });
  expect((await show.store.findOwnStream(own)).status).toBe('CREATED');
  const next = { after: interval, interval: interval + 1 };
  await show.store.sealInterval({ ...next, nowMs: atMs + 300, transients: [] });
  expect(await show.store.findOwnStream(own)).toMatchObject({ status: 'ENDED', endsAt: null });
});

test('[L-13] an account has at most 10,000 streams', async () => {
  show = await openShow([uuidOf(0)]);
  insertCopies(9_998);
  const create = (number: number) =>
    show.store.createStream({
      id: uuidOf(number),
      producer: PRODUCER,
      stream: NEW_STREAM,
      nowMs: SHOW_START_MS,
    });
  await create(10_000);
  expect(await create(10_001).catch((error) => error)).toMatchObject({ kind: 'conflict' });
});

/** Inserts copies of stream 0, because 10,000 calls that count all streams take 20 s. */
function insertCopies(count: number): void {
  using sqlite = new Database(join(show.directory, DATABASE_FILE));
  const columns = sqlite
    .query<{ name: string }, []>('pragma table_info(streams)')
    .all()
    .map(({ name }) => name)
    .filter((name) => name !== 'id');
  sqlite.run(
    `with recursive copies(copy) as (select 1 union all select copy + 1 from copies where copy < ?)
     insert into streams (id, ${columns}) select 'copy ' || copy, ${columns} from copies, streams`,
    [count],
  );
}
