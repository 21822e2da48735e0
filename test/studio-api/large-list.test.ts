import { expect, test } from 'bun:test';
import type { Store } from '../../server/app/procedures.ts';
import { Unavailable } from '../../server/platform/errors.ts';
import { startService } from '../support/harness/harness.ts';
import { newMember } from '../support/studio/user-agent.ts';

// More than the sockets between service and client buffer.
const STREAMS = 2_000;
const URL_CHARS = 2_048;

const longUrl = (name: string) => `https://cdn.example/${name}`.padEnd(URL_CHARS, 'x');

/** A store that counts the streams that are read from it for lists. */
function countingStore(store: Store, onRead: (count: number) => void): Store {
  return {
    ...store,
    listStreams: async (input) => {
      const list = await store.listStreams(input);
      onRead(list.streams.length);
      return list;
    },
    pageOfOwnStreams: async (input) => {
      const page = await store.pageOfOwnStreams(input);
      onRead(page.length);
      return page;
    },
  };
}

test('[P-4] [P-10] a long list of streams is complete, and is read no faster than its client takes it', async () => {
  let readCount = 0;
  const store = (real: Store) => countingStore(real, (count) => (readCount += count));
  await using service = await startService({ store });
  const producer = service.account.uuid;
  const ids: string[] = [];
  let creations: Promise<unknown>[] = [];
  for (let n = 0; n < STREAMS; n++) {
    const id = crypto.randomUUID();
    const urls = { dash_url: longUrl('a'), hls_url: longUrl('b'), poster_url: longUrl('c') };
    const flags = { unlisted: false, recording: false, autoStart: false, keepOpen: false };
    const stream = { title: `Show ${n}`, latencyAllowance: 0, ...urls, ...flags };
    creations.push(
      service.store.createStream({ id, producer, stream, nowMs: service.clock.nowMs() }),
    );
    ids.unshift(id);
    // Together within their deadline.
    if (creations.length < 20) continue;
    await Promise.all(creations);
    creations = [];
  }
  const response = await service.studio('GET', '/streams');
  expect(response.headers.get('content-type')).toBe('application/json');
  await Bun.sleep(500);
  expect(readCount).toBeLessThan(STREAMS);
  const { results } = (await response.json()) as { results: { id: string }[] };
  expect(results.map(({ id }) => id)).toEqual(ids);
  expect(readCount).toBe(STREAMS);
}, 20_000);

test('[L-19] [R-15] lists of streams are read one page at a time, and those that wait fail with one that fails', async () => {
  let readCount = 0;
  let reads = 0;
  let readsMax = 0;
  let isUnavailable = false;
  await using service = await startService({
    store: (real) => ({
      ...real,
      pageOfOwnStreams: async (input) => {
        readCount++;
        readsMax = Math.max(readsMax, ++reads);
        try {
          await Bun.sleep(10);
          if (isUnavailable) throw new Unavailable('The database is stalled.');
          return await real.pageOfOwnStreams(input);
        } finally {
          reads--;
        }
      },
    }),
  });
  const statuses = async () => {
    const lists = Array.from({ length: 8 }, () => service.studio('GET', '/streams'));
    return new Set((await Promise.all(lists)).map(({ status }) => status));
  };
  expect(await statuses()).toEqual(new Set([200]));
  expect(readsMax).toBe(1);
  isUnavailable = true;
  readCount = 0;
  expect(await statuses()).toEqual(new Set([503]));
  expect(readCount).toBeLessThan(8);
});

test('[L-19] lists of streams: members take turns with programs, and more than 32 of a member at once get 429', async () => {
  const finished: string[] = [];
  await using service = await startService({
    store: (real) => ({
      ...real,
      pageOfOwnStreams: async (input) => {
        await Bun.sleep(10);
        return real.pageOfOwnStreams(input);
      },
    }),
  });
  const { browser } = await newMember(service, 'moderator');
  const list = async (caller: string, send: () => Promise<Response>) => {
    const { status } = await send();
    if (status === 200) finished.push(caller);
    return status;
  };
  const ofMember = Array.from({ length: 50 }, () =>
    list('member', () => browser.send('GET', '/streams')),
  );
  await Promise.race(ofMember);
  const ofProgram = list('program', () => service.studio('GET', '/streams'));
  const statuses = await Promise.all(ofMember);
  expect(await ofProgram).toBe(200);
  expect(finished.indexOf('program')).toBeLessThan(8);
  expect(statuses.filter((status) => status === 429)).toHaveLength(51 - finished.length);
  expect(finished.length).toBeLessThan(48);
});

test('[L-17] lists of streams count 2 MB each from their first page on, while they are being made', async () => {
  let isFirst = true;
  await using service = await startService({
    store: (real) => ({
      ...real,
      pageOfOwnStreams: async (input) => {
        // Until all requests have arrived.
        if (isFirst) await Bun.sleep(500);
        isFirst = false;
        return real.pageOfOwnStreams(input);
      },
    }),
  });
  // A page and one more.
  for (let n = 0; n < 101; n++) await service.createStream();
  const lists = Array.from({ length: 40 }, () => service.studio('GET', '/streams'));
  const statuses = (await Promise.all(lists)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(8);
  expect((await service.studio('GET', '/streams')).status).toBe(200);
});
