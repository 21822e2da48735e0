import { describe, expect, test } from 'bun:test';
import { answerPages, type ExportSource, feedPages, winnerPages } from './export-pages.ts';
import type { ExportPage } from './exports-sql.ts';

const SOURCE = { streamId: 'stream', producer: 'producer', nowMs: 5_000 };

/** A record whose quizzes (or rounds) have so many rows; it notes every page it is asked for. */
function recordOf(rowsOf: ReadonlyMap<number, number>, pages: ExportPage[] = []) {
  const page = async (asked: ExportPage) => {
    pages.push(asked);
    const { of, afterSeat, limit } = asked;
    const count = rowsOf.get(of) ?? 0;
    const seats = Array.from({ length: count }, (_, seat) => seat);
    return seats
      .filter((seat) => seat > afterSeat)
      .slice(0, limit)
      .map((seat) => ({ of, seat }));
  };
  return {
    listExportedQuizzes: async () => [...rowsOf.keys()],
    listExportedRounds: async () => [...rowsOf.keys()],
    exportAnswers: page,
    exportWinners: page,
  } as unknown as ExportSource['store'];
}

describe('answers and winners', () => {
  test.each([
    ['answers', answerPages],
    ['winners', winnerPages],
  ])(
    '%s come quiz by quiz or round by round, each seat once, in pages of 1,000',
    async (_, begin) => {
      const counts = new Map([
        [3, 2_500],
        [4, 0],
        [9, 1_000],
        [11, 1],
      ]);
      const asked: ExportPage[] = [];
      const source = { ...SOURCE, store: recordOf(counts, asked) };
      const pages: (readonly unknown[])[] = [];
      for await (const page of await begin(source)) pages.push(page);
      expect(pages.map((page) => page.length)).toEqual([1_000, 1_000, 500, 1_000, 1]);
      const expected = [...counts].flatMap(([of, count]) =>
        Array.from({ length: count }, (_, seat) => ({ of, seat })),
      );
      expect(pages.flat()).toEqual(expected);
      expect(new Set(asked.map(({ limit }) => limit))).toEqual(new Set([1_000]));
    },
  );

  test('[P-27] rows that arrive after the beginning are never asked for', async () => {
    const asked: ExportPage[] = [];
    const store = recordOf(new Map([[1, 1_500]]), asked);
    await Array.fromAsync(await answerPages({ ...SOURCE, store }));
    expect(asked.map(({ untilMs }) => untilMs)).toEqual([5_000, 5_000]);
  });

  test('a page is read when it is taken, not before', async () => {
    const asked: ExportPage[] = [];
    const pages = await answerPages({ ...SOURCE, store: recordOf(new Map([[1, 5_000]]), asked) });
    expect(asked).toHaveLength(0);
    await pages.next();
    expect(asked).toHaveLength(1);
    await pages.return(undefined);
    expect(asked).toHaveLength(1);
  });
});

describe('the feed', () => {
  test('[P-27] [P-29] ends with the interval that was the last sealed one, however long it takes', async () => {
    let watermark = 1_250;
    const asked: { from: number; to: number }[] = [];
    const store = {
      findOwnStream: async () => ({}),
      readWatermark: async () => watermark,
      exportFeed: async ({ from, to, limit }: { from: number; to: number; limit: number }) => {
        asked.push({ from, to });
        watermark += 10; // The show goes on.
        const all = Array.from({ length: watermark + 1 }, (_, interval) => ({ interval }));
        return all.filter(({ interval }) => interval >= from && interval <= to).slice(0, limit);
      },
    } as unknown as ExportSource['store'];
    const rows = (await Array.fromAsync(await feedPages({ ...SOURCE, store }))).flat();
    expect(rows.map(({ interval }) => interval)).toEqual(
      Array.from({ length: 1_251 }, (_, n) => n),
    );
    expect(new Set(asked.map(({ to }) => to))).toEqual(new Set([1_250]));
  });
});
