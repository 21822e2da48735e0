import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ANSWERS, type ExportTable, FEED, serializePages, WINNERS } from './export-format.ts';
import type { ExportedAnswer } from './exports-sql.ts';

async function* pagesOf<Row>(...pages: Row[][]): AsyncGenerator<Row[]> {
  yield* pages;
}

async function textOf<Row extends object>(
  table: ExportTable<Row>,
  format: 'ndjson' | 'csv',
  ...pages: Row[][]
): Promise<string> {
  return (await Array.fromAsync(serializePages(table, format, pagesOf(...pages)))).join('');
}

/** An independent parser of RFC 4180, to check the serializer against. */
function parsedCsv(text: string): string[][] {
  const records: string[][] = [];
  let fields: string[] = [];
  let position = 0;
  while (position < text.length) {
    const quoted = /"((?:[^"]|"")*)"/y;
    const plain = /[^",\r\n]*/y;
    const pattern = text[position] === '"' ? quoted : plain;
    pattern.lastIndex = position;
    const match = pattern.exec(text);
    if (!match) throw new Error(`no field at ${position}`);
    fields.push(match[1] === undefined ? match[0] : match[1].replaceAll('""', '"'));
    position = pattern.lastIndex;
    if (text[position] === ',') position += 1;
    else if (text.startsWith('\r\n', position)) {
      records.push(fields);
      fields = [];
      position += 2;
    } else throw new Error(`no end of a field at ${position}`);
  }
  if (fields.length > 0) throw new Error('the last record has no end');
  return records;
}

const ANSWER: ExportedAnswer = {
  quizId: '22222222-2222-4333-8444-555555555555',
  viewer: 'abc_DEF-123',
  seat: 0,
  choice: 'Jupiter',
  correct: true,
  at: 1_750_000_000_000,
  question: 'Which planet?',
};
const TIME = '2025-06-15T15:06:40.000Z';

describe('exports of answers and winners', () => {
  test('[P-28] NDJSON has one object per line with exactly the documented fields', async () => {
    const text = await textOf(ANSWERS, 'ndjson', [ANSWER], [{ ...ANSWER, seat: 1 }]);
    const lines = text.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...ANSWER, time: TIME },
      { ...ANSWER, seat: 1, time: TIME },
    ]);
  });

  test('[P-28] [P-30] CSV has one header row over all pages', async () => {
    const text = await textOf(ANSWERS, 'csv', [ANSWER], [{ ...ANSWER, seat: 1, correct: false }]);
    expect(text).toBe(
      'quizId,viewer,seat,choice,correct,at,question,time\r\n' +
        '22222222-2222-4333-8444-555555555555,abc_DEF-123,0,Jupiter,true,1750000000000,Which planet?,2025-06-15T15:06:40.000Z\r\n' +
        '22222222-2222-4333-8444-555555555555,abc_DEF-123,1,Jupiter,false,1750000000000,Which planet?,2025-06-15T15:06:40.000Z\r\n',
    );
    const words = { round: 2, name: '=Ada', code: 'KOTA-4729', questions: 'One? · Two?' };
    const winner = { roundId: 'r', viewer: 'v', seat: 3, at: 9, ...words };
    expect(await textOf(WINNERS, 'csv', [winner])).toBe(
      'roundId,viewer,seat,at,round,name,code,questions,time\r\n' +
        "r,v,3,9,2,'=Ada,KOTA-4729,One? · Two?,1970-01-01T00:00:00.009Z\r\n",
    );
  });

  test('[P-30] without rows CSV has its header row and NDJSON is empty', async () => {
    expect(await textOf(WINNERS, 'csv')).toBe(
      'roundId,viewer,seat,at,round,name,code,questions,time\r\n',
    );
    expect(await textOf(WINNERS, 'ndjson')).toBe('');
  });

  test('[P-30] CSV quotes any choice so that it can be parsed back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('"', ',', ';', '\r', '\n', 'a', '=', '-', 'é', '😀') }),
        async (choice) => {
          const [, record] = parsedCsv(await textOf(ANSWERS, 'csv', [{ ...ANSWER, choice }]));
          const cell = record?.[3];
          expect(cell?.startsWith("'")).toBe(/^[=+\-@\t\r]/.test(choice));
          expect(cell).not.toMatch(/[;\r\n]"*[=-]/);
          expect(cell).not.toMatch(/[^;\r\n"]"*'/);
          expect(cell?.replaceAll("'", '')).toBe(choice);
        },
      ),
    );
  });

  test.each(['=1+2', '+1', '-1', '@SUM(A1)', '=cmd|" /C calc"!A0', '＝1'])(
    'no spreadsheet runs the choice %p as a formula',
    async (choice) => {
      const [, record] = parsedCsv(await textOf(ANSWERS, 'csv', [{ ...ANSWER, choice }]));
      expect(record?.[3]).toBe(`'${choice}`);
    },
  );

  test.each([
    ['a;=1+1', "a;'=1+1"],
    ['a\t@b', "a\t'@b"],
    ['a\n-1', "a\n'-1"],
    ['a;"+1"', 'a;"\'+1"'],
    ['a=1', 'a=1'],
  ])('[P-30] %j is no formula where ";" or a tab separates cells', async (choice, cell) => {
    const [, record] = parsedCsv(await textOf(ANSWERS, 'csv', [{ ...ANSWER, choice }]));
    expect(record?.[3]).toBe(cell);
  });

  test('[P-28] a viewer is the exact `sub`, also one that begins with "-"', async () => {
    const viewer = '-abcdefghijklmnopqrstu';
    const [, record] = parsedCsv(await textOf(ANSWERS, 'csv', [{ ...ANSWER, viewer }]));
    expect(record?.[1]).toBe(viewer);
  });
});

describe('exports of the feed', () => {
  const body =
    '{"interval":7,"events":[{"type":"quiz-winners","data":{"count":2}},{"type":"lights","data":null}]}';

  test('[P-29] NDJSON has the stored bodies, byte for byte', async () => {
    const odd = '{"interval":8,"events":[{"type":"x","data":{"b":1.50,"a":"\\u00e9 "}}]}';
    const rows = [
      { interval: 7, body },
      { interval: 8, body: odd },
    ];
    expect(await textOf(FEED, 'ndjson', rows)).toBe(`${body}\n${odd}\n`);
  });

  test('[P-29] CSV has one event per row', async () => {
    expect(parsedCsv(await textOf(FEED, 'csv', [{ interval: 7, body }]))).toEqual([
      ['interval', 'type', 'data'],
      ['7', 'quiz-winners', '{"count":2}'],
      ['7', 'lights', 'null'],
    ]);
  });
});

test.each(['ndjson', 'csv'] as const)(
  '%s is made in slices of about 64,000 characters',
  async (format) => {
    const page = Array.from({ length: 1_000 }, (_, seat) => ({
      ...ANSWER,
      seat,
      question: 'x'.repeat(450),
    }));
    const texts = await Array.fromAsync(serializePages(ANSWERS, format, pagesOf(page)));
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(100_000);
    expect(texts.length).toBeLessThan(20);
    expect(texts.join('').match(/x{450}/g)).toHaveLength(1_000);
  },
);

test('[P-29] one interval of the feed that exceeds a slice is one slice', async () => {
  const data = { text: 'x'.repeat(100_000) };
  const page = [1, 2].map((interval) => ({
    interval,
    body: JSON.stringify({ interval, events: [{ type: 'custom', data }] }),
  }));
  const texts = await Array.fromAsync(serializePages(FEED, 'csv', pagesOf(page)));
  expect(texts.map((text) => text.split(',')[0])).toEqual(['interval', '1', '2']);
});

test('intervals with many member names that are numbers are slices of their own', async () => {
  const data = Array.from({ length: 1_000 }, () => ({ 999: 1 }));
  const page = [1, 2, 3].map((interval) => ({
    interval,
    body: JSON.stringify({ interval, events: [{ type: 'custom', data }] }),
  }));
  const texts = await Array.fromAsync(serializePages(FEED, 'csv', pagesOf(page)));
  expect(texts.map((text) => text.split(',')[0])).toEqual(['interval', '1', '2', '3']);
});
