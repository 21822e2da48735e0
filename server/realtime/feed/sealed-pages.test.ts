import { beforeAll, describe, expect, test } from 'bun:test';
import type { EventsInterval } from '../../../protocol/feed.ts';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { composeInterval } from './interval-body.ts';
import { type BackwardSearch, readSealedBackward, readSealedForward } from './sealed-pages.ts';

const sqlite = await sqliteOfFile();

/** Stores intervals 0 … 9 with two events each. The text of an event makes up most of a body. */
beforeAll(async () => {
  await insertStream(sqlite, 's');
  for (let interval = 0; interval < 10; interval++) {
    const events = ['a', 'b'].map((name, number) => ({
      ...{ streamId: 's', number, type: 'note' },
      data: JSON.stringify(`${name}${interval} ${'x'.repeat(1_000)}`),
    }));
    const { body } = composeInterval(interval, { viewCount: null, chats: null }, events);
    await sqlite.query('insert into sealed_intervals values ($1, $2, $3)', ['s', interval, body]);
  }
});

async function readAllForward(limit: number, bytesMax: number): Promise<number[][]> {
  const pages: number[][] = [];
  let from: number | null = 2;
  while (from !== null) {
    const page = { streamId: 's', from, to: 8, limit, bytesMax };
    const { intervals, next } = await readSealedForward(sqlite, page);
    if (intervals.length > 0) pages.push(intervals.map(({ interval }) => interval));
    from = next;
  }
  return pages;
}

async function readAllBackward(options: Partial<BackwardSearch<string>>) {
  const pages: string[][] = [];
  let before: number | null = null;
  do {
    const search: BackwardSearch<string> = {
      ...{ streamId: 's', before, limit: 4, intervalsMax: 100, bytesMax: 1e9, condition: '1 = 1' },
      itemsOf: ({ events }) => events.map(({ data }) => String(data).slice(0, 2)),
      ...options,
    };
    const page: { results: string[]; next: number | null } = await readSealedBackward(
      sqlite,
      search,
    );
    pages.push(page.results);
    before = page.next;
  } while (before !== null);
  return pages;
}

test('readSealedForward reads each interval between both ends once, in pages by rows', async () => {
  expect(await readAllForward(3, 1e9)).toEqual([[2, 3, 4], [5, 6, 7], [8]]);
});

test('readSealedForward ends a page with the body that reaches its bytes', async () => {
  expect(await readAllForward(100, 3_000)).toEqual([[2, 3], [4, 5], [6, 7], [8]]);
});

test('readSealedBackward returns whole intervals, newest items first', async () => {
  const pages = await readAllBackward({ limit: 3 });
  expect(pages[0]).toEqual(['b9', 'a9', 'b8', 'a8']);
  expect(pages.flat()).toEqual(
    Array.from({ length: 10 }, (_, n) => [`b${9 - n}`, `a${9 - n}`]).flat(),
  );
});

test.each([
  ['rows', { intervalsMax: 3 }],
  ['bytes', { bytesMax: 5_000 }],
])(
  'readSealedBackward limits a page by %s and continues, also after empty pages',
  async (_, limits) => {
    const condition = `body like '%"a1 %'`;
    const pages = await readAllBackward({ ...limits, condition });
    expect(pages.slice(0, 2)).toEqual([[], []]);
    expect(pages.flat()).toEqual(['b1', 'a1']);
  },
);

test('readSealedBackward continues when bodies match that have no items', async () => {
  const itemsOf: BackwardSearch<string>['itemsOf'] = ({ interval }) =>
    interval < 3 ? [String(interval)] : [];
  expect((await readAllBackward({ limit: 2, itemsOf })).flat()).toEqual(['2', '1', '0']);
});

describe('a page ends after five million member names that are numbers', () => {
  beforeAll(async () => {
    await insertStream(sqlite, 'numbers');
    // 200 objects with the name 9999 in an event, and an interval of two such events: 4,000,000.
    const data = JSON.stringify(Array.from({ length: 200 }, () => ({ 9999: 1 })));
    for (let interval = 0; interval < 5; interval++) {
      const events = [1, 2].map((number) => ({ streamId: 'numbers', number, type: 'note', data }));
      const { body } = composeInterval(interval, { viewCount: null, chats: null }, events);
      const row = ['numbers', interval, body];
      await sqlite.query('insert into sealed_intervals values ($1, $2, $3)', row);
    }
  });

  test('forward', async () => {
    const page = { streamId: 'numbers', to: 8, limit: 100, bytesMax: 1e9 };
    const { intervals, next } = await readSealedForward(sqlite, { ...page, from: 0 });
    expect([intervals.length, next]).toEqual([2, 2]);
    expect((await readSealedForward(sqlite, { ...page, from: 4 })).next).toBe(5);
  });

  test('backward', async () => {
    const itemsOf = ({ interval }: EventsInterval) => [String(interval)];
    const pages = await readAllBackward({ streamId: 'numbers', itemsOf });
    expect(pages).toEqual([['4', '3'], ['2', '1'], ['0']]);
  });
});
