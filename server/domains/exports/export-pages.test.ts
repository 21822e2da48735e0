import { describe, expect, test } from 'bun:test';
import { answerPages, type ExportSource, feedPages, winnerPages } from './export-pages.ts';
import type { ExportPage } from './exports-sql.ts';

const SOURCE = {
  streamId: 'stream',
  producer: 'producer',
  nowMs: 5_000,
  winnerCode: (streamId: string, seat: number) => `${streamId} ${seat}`,
  step: <T>(work: () => Promise<T>) => work(),
  onKept: () => {},
};

/** A fake store with this many rows for each quiz or round; it records the pages that are read. */
function fakeStore(rowCounts: ReadonlyMap<number, number>, pages: ExportPage[] = []) {
  const readPage = async (page: ExportPage) => {
    pages.push(page);
    const { parentNumber, afterSeat, limit } = page;
    const count = rowCounts.get(parentNumber) ?? 0;
    const seats = Array.from({ length: count }, (_, seat) => seat);
    return seats
      .filter((seat) => seat > afterSeat)
      .slice(0, limit)
      .map((seat) => ({ parentNumber, seat }));
  };
  return {
    listExportedQuizzes: async () => [...rowCounts.keys()],
    listExportedRounds: async () => [...rowCounts.keys()],
    exportAnswers: readPage,
    exportWinners: readPage,
  } as unknown as ExportSource['store'];
}

describe('export pages of answers and winners', () => {
  test.each([
    ['answers', answerPages, () => ({})],
    ['winners', winnerPages, (seat: number) => ({ code: `stream ${seat}` })],
  ])('%s are read by quiz or round, each seat once, in pages of 1,000', async (_, begin, added) => {
    const counts = new Map([
      [3, 2_500],
      [4, 0],
      [9, 1_000],
      [11, 1],
    ]);
    const requests: ExportPage[] = [];
    const source = { ...SOURCE, store: fakeStore(counts, requests) };
    const pages: (readonly unknown[])[] = [];
    for await (const page of await begin(source)) pages.push(page);
    expect(pages.map((page) => page.length)).toEqual([1_000, 1_000, 500, 0, 1_000, 0, 1]);
    const expected = [...counts].flatMap(([parentNumber, count]) =>
      Array.from({ length: count }, (_, seat) => ({ parentNumber, seat, ...added(seat) })),
    );
    expect(pages.flat()).toEqual(expected);
    expect(new Set(requests.map(({ limit }) => limit))).toEqual(new Set([1_000]));
  });

  test('[P-27] rows that arrive after the start of the export are never read', async () => {
    const requests: ExportPage[] = [];
    const store = fakeStore(new Map([[1, 1_500]]), requests);
    await Array.fromAsync(await answerPages({ ...SOURCE, store }));
    expect(requests.map(({ untilMs }) => untilMs)).toEqual([5_000, 5_000]);
  });

  test('[L-20] each read of a quiz without answers is a page of its own', async () => {
    const requests: ExportPage[] = [];
    const store = fakeStore(new Map([1, 2, 3].map((number) => [number, 0])), requests);
    const pages = await answerPages({ ...SOURCE, store });
    await pages.next();
    expect(requests).toHaveLength(1);
  });

  test('a page is read only when it is consumed', async () => {
    const requests: ExportPage[] = [];
    const pages = await answerPages({
      ...SOURCE,
      store: fakeStore(new Map([[1, 5_000]]), requests),
    });
    expect(requests).toHaveLength(0);
    await pages.next();
    expect(requests).toHaveLength(1);
    await pages.return(undefined);
    expect(requests).toHaveLength(1);
  });
});

describe('export pages of the feed', () => {
  test('[P-27] [P-29] export pages of the feed end with the last interval that was sealed at the start', async () => {
    let watermark = 1_250;
    const requests: { from: number; to: number; bytesMax: number }[] = [];
    const store = {
      findOwnStream: async () => ({}),
      readWatermark: async () => watermark,
      // Each interval has 100 KB, so the bytes end a page.
      exportFeed: async (page: { from: number; to: number; bytesMax: number }) => {
        requests.push(page);
        watermark += 10; // The show goes on.
        const all = Array.from({ length: watermark + 1 }, (_, interval) => ({ interval }));
        const { from, to, bytesMax } = page;
        const rows = all.filter(({ interval }) => interval >= from && interval <= to);
        return rows.slice(0, Math.ceil(bytesMax / 100_000));
      },
    } as unknown as ExportSource['store'];
    const rows = (await Array.fromAsync(await feedPages({ ...SOURCE, store }))).flat();
    expect(rows.map(({ interval }) => interval)).toEqual(
      Array.from({ length: 1_251 }, (_, n) => n),
    );
    expect(new Set(requests.map(({ to }) => to))).toEqual(new Set([1_250]));
    expect(Math.max(...requests.map(({ bytesMax }) => bytesMax))).toBeLessThanOrEqual(1 << 20);
  });
});
