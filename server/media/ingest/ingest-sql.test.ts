import { expect, test } from 'bun:test';
import { intervalStartMs } from '../../../protocol/interval.ts';
import {
  type SourcesFixture,
  sourcesContract,
} from '../../../test/support/media/ingest-contract.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  STREAM,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import type { Store } from '../../app/procedures.ts';

async function sqliteFixture(): Promise<SourcesFixture> {
  const show = await openShow([]);
  const store: Store = show.store;
  let streams = 0;
  return {
    nodes: [store, store],
    producer: PRODUCER,
    newStream: async () => {
      const id = uuidOf(++streams);
      await store.createStream({ id, producer: PRODUCER, stream: STREAM, nowMs: SHOW_START_MS });
      return id;
    },
    close: () => show.close(),
  };
}

sourcesContract('SQLite', sqliteFixture);

test('[M-7] [M-8] time in which the service is stopped does not count toward a source’s lease', async () => {
  const id = uuidOf(1);
  const own = { id, producer: PRODUCER };
  const show = await openShow([id]);
  try {
    const seal = async (atMs: number) => {
      const after = await show.store.readWatermark({});
      const interval = Math.floor(atMs / 250) - 1;
      await show.store.sealInterval({ after, interval, nowMs: atMs, transients: [] });
    };
    const key = await show.store.keepStreamKey({ ...own, offered: 'sk_key' });
    const source = { key, session: 'first', kind: 'srt' as const, graceMs: 30_000, sourcesMax: 1 };
    // Before the first sealing of this database.
    await show.store.openSource({ ...source, nowMs: SHOW_START_MS });
    await seal(SHOW_START_MS + 250);
    await show.restart();
    const startedMs = SHOW_START_MS + 600_000;
    const again = { ...source, session: 'second', nowMs: startedMs };
    expect(await show.store.openSource(again)).toEqual({ outcome: 'busy' });
    await seal(startedMs);
    expect(await show.store.findOwnStream(own)).toMatchObject({ status: 'STREAMING' });
    for (let ms = 250; ms <= 6_000; ms += 250) await seal(startedMs + ms);
    const later = { ...again, nowMs: startedMs + 6_000 };
    expect(await show.store.openSource(later)).toMatchObject({ outcome: 'opened' });
  } finally {
    await show.close();
  }
});

test('[P-2] [M-1] another producer can neither read nor change the key', async () => {
  const [id, other] = [uuidOf(1), uuidOf(2)];
  const show = await openShow([id, other]);
  try {
    const otherProducer = { id, producer: other, nowMs: intervalStartMs(1) };
    for (const attempt of [
      show.store.findIngest(otherProducer),
      show.store.keepStreamKey({ ...otherProducer, offered: 'sk_a' }),
      show.store.rotateStreamKey({ ...otherProducer, key: 'sk_b' }),
    ]) {
      expect(await attempt.catch((error) => error)).toMatchObject({ kind: 'not-found' });
    }
  } finally {
    await show.close();
  }
});
