import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ImportFormat, QuizFileFormat } from '../../../protocol/rundown.ts';
import { type NewQuiz, newQuizSchema } from '../../../protocol/studio.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { escapeFormula } from './formats/formula-escape.ts';
import { ImportError, readQuizzes } from './read-quizzes.ts';
import { serializeQuizzes } from './write-quizzes.ts';

const random = seededRandom(1);
const randomBelow = (n: number) => Math.floor(random() * n);
const read = (format: ImportFormat, text: string, duration = 20_000) =>
  readQuizzes({ format, text, duration, randomBelow });

const written = (quizzes: readonly NewQuiz[], format: QuizFileFormat) =>
  [...serializeQuizzes(quizzes, format)].join('');

/** The issues of a text that cannot be imported. */
function issuesOf(format: ImportFormat, text: string): readonly string[] {
  try {
    read(format, text);
  } catch (error) {
    if (error instanceof ImportError) return error.issues;
    throw error;
  }
  throw new Error('the text has no issues');
}

const PLANET: NewQuiz = {
  question: 'Which planet is the largest?',
  choices: ['Mars', 'Jupiter', 'Venus'],
  answer: 'Jupiter',
  duration: 10_000,
  reveal: 'auto',
};
const json = (...quizzes: unknown[]) => JSON.stringify({ quizzes });

describe('fourbeat-json', () => {
  test('[D-9] fourbeat-json reads an object with quizzes, or their array alone, with the fields of P-15', () => {
    const { reveal: _, duration: _duration, ...short } = PLANET;
    const text = json(PLANET, short);
    const quizzes = [PLANET, { ...PLANET, duration: 20_000 }];
    expect(read('fourbeat-json', text)).toEqual(quizzes);
    expect(read('fourbeat-json', `\ufeff${text}`)).toEqual(quizzes);
    expect(read('fourbeat-json', JSON.stringify([PLANET, short]))).toEqual(quizzes);
  });

  test.each([
    ['no JSON', '{"quizzes": [', 'The text is not valid JSON.'],
    ['1 MB of brackets', '['.repeat(1_000_000), 'The text is nested deeper than 8 levels.'],
    ['no quizzes', '{"results": []}', 'The text has no `quizzes`, an array.'],
    ['a number for an object', '7', 'The text has no `quizzes`, an array.'],
    ['an empty array', json(), 'The text has no quizzes.'],
    ['a quiz that is no object', json(PLANET, 7), 'quiz 2: must be an object'],
    ['no question', json({ ...PLANET, question: undefined }), 'quiz 1, question: is missing'],
    ['a wrong answer', json({ ...PLANET, answer: 'x' }), 'quiz 1, answer: must be one of the'],
    ['an empty choice', json({ ...PLANET, choices: ['a', ''] }), 'quiz 1, choices.1: must not be'],
    ['an unknown field', json({ ...PLANET, points: 3 }), 'quiz 1: Unrecognized key: "points"'],
  ])('[D-7] fourbeat-json reports %s', (_, text, issue) => {
    expect(issuesOf('fourbeat-json', text)[0]).toStartWith(issue);
  });
});

describe('the issues of an import', () => {
  test('[D-7] the issues of an import cover each quiz, at most 100 in the list and three in the message', () => {
    const invalid = { ...PLANET, question: '', duration: 1 };
    const issues = issuesOf('fourbeat-json', json(invalid, PLANET, invalid));
    expect(issues).toEqual([
      'quiz 1, question: must not be empty',
      'quiz 1, duration: must be at least 1000',
      'quiz 3, question: must not be empty',
      'quiz 3, duration: must be at least 1000',
    ]);
    expect(new ImportError(issues).message).toBe(`${issues.slice(0, 3).join('; ')}; and 1 more`);
    expect(new ImportError(issues.slice(0, 2)).message).toBe(issues.slice(0, 2).join('; '));
    expect(issuesOf('fourbeat-json', json(...Array(400).fill(invalid)))).toHaveLength(100);
  });

  test('[D-7] the issues of an import are short, whatever the text contains', () => {
    const manyFields = Object.fromEntries(Array.from({ length: 9_999 }, (_, n) => [`m${n}`, n]));
    for (const quiz of [
      { ...PLANET, ...manyFields },
      { ...PLANET, choices: Array(15_000).fill('') },
    ]) {
      const issues = issuesOf('fourbeat-json', json(quiz));
      expect(issues).toHaveLength(1);
      expect(issues[0]?.length).toBeLessThan(300);
    }
  });

  test('[D-9] JSON has at most 16,000 commas, more than 500 of the largest quizzes', () => {
    const choices = Array.from({ length: 10 }, (_, n) => `${n}, "a"`);
    const largest = { ...PLANET, choices, answer: choices[0] };
    expect(read('fourbeat-json', json(...Array(500).fill(largest)))).toHaveLength(500);
    const withMembers = (count: number) =>
      `[${JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [n, 0])))}]`;
    expect(issuesOf('fourbeat-json', withMembers(16_001))[0]).toStartWith('quiz 1');
    const reason =
      'The text has more than 16000 members and elements; an import has at most 500 quizzes.';
    for (const format of ['fourbeat-json', 'the-trivia-api', 'opentdb'] as const) {
      expect(issuesOf(format, withMembers(16_002))).toEqual([reason]);
    }
  });

  test('[D-6] an import takes at most 500 quizzes', () => {
    expect(read('fourbeat-json', json(...Array(500).fill(PLANET)))).toHaveLength(500);
    const reason = 'The text has 501 quizzes; at most 500 are taken at once.';
    expect(issuesOf('fourbeat-json', json(...Array(501).fill(PLANET)))).toEqual([reason]);
    const rows = Array(501).fill('Which?,a,b,a').join('\n');
    const csv = `question,choice 1,choice 2,answer\n${rows}`;
    expect(issuesOf('fourbeat-csv', csv)).toEqual([reason]);
  });
});

describe('the order of choices', () => {
  const trivia = JSON.stringify([
    {
      question: { text: 'Which one?' },
      correctAnswer: 'right',
      incorrectAnswers: ['one', 'two', 'three'],
    },
  ]);

  test('[D-14] the order of choices is uniformly random in formats that have the correct one first', () => {
    const timesByOrder = new Map<string, number>();
    const timesByIndex = [0, 0, 0, 0];
    const rounds = 4_800;
    for (let round = 0; round < rounds; round++) {
      const [quiz] = read('the-trivia-api', trivia);
      const order = quiz?.choices.join() ?? '';
      timesByOrder.set(order, (timesByOrder.get(order) ?? 0) + 1);
      const index = quiz?.choices.indexOf('right') ?? -1;
      timesByIndex[index] = (timesByIndex[index] ?? 0) + 1;
    }
    expect(timesByOrder.size).toBe(24);
    for (const times of timesByOrder.values()) {
      expect(times).toBeGreaterThan(130);
      expect(times).toBeLessThan(270);
    }
    for (const times of timesByIndex) {
      expect(Math.abs(times / rounds - 0.25)).toBeLessThan(0.03);
    }
  });

  test('[D-14] the order of choices is unchanged in other formats', () => {
    for (let round = 0; round < 20; round++) {
      expect(read('fourbeat-json', json(PLANET))[0]?.choices).toEqual(PLANET.choices);
    }
  });
});

describe('an exported file', () => {
  const fits = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
    schema.safeParse(value).success;
  // Any characters, above all those with a meaning in CSV or spreadsheets.
  const special = fc.constantFrom(
    ...'",;\t\'=+-@ \u00a0\ufeff\u2028ßé日🎉'.split(''),
    '\ufeff',
    '🎉',
  );
  const text = (max: number) =>
    fc.string({
      unit: fc.oneof(special, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })),
      minLength: 1,
      maxLength: Math.min(max, 30),
    });
  const quiz = fc
    .record({
      question: text(500),
      choices: fc.uniqueArray(text(200), { minLength: 2, maxLength: 10 }),
      answer: fc.nat(),
      duration: fc.integer({ min: 1_000, max: 600_000 }),
      reveal: fc.constantFrom('auto' as const, 'manual' as const),
    })
    .map((fields) => ({
      ...fields,
      answer: fields.choices[fields.answer % fields.choices.length] as string,
    }))
    .filter((generated) => fits(newQuizSchema, generated));

  test.each(['json', 'csv'] as const)(
    '[D-16] an exported file as %s is imported without loss',
    (format) => {
      fc.assert(
        fc.property(fc.array(quiz, { minLength: 1, maxLength: 8 }), (quizzes) => {
          expect(read(`fourbeat-${format}`, written(quizzes, format))).toEqual(quizzes);
        }),
        { numRuns: 300 },
      );
    },
  );

  test('[D-15] an exported file as CSV begins with a byte order mark and runs no formula', () => {
    const formula = {
      ...PLANET,
      question: '=HYPERLINK("http://x","y")',
      choices: ["'+1", 'Jupiter'],
    };
    const file = written([formula], 'csv');
    expect(file).toBe(
      '\ufeffquestion,choice 1,choice 2,choice 3,choice 4,choice 5,choice 6,choice 7,choice 8,choice 9,choice 10,answer,duration,reveal\r\n' +
        `"'=HYPERLINK(""http://x"",""y"")",''+1,Jupiter,,,,,,,,,Jupiter,10000,auto\r\n`,
    );
    expect(read('fourbeat-csv', file)).toEqual([formula]);
  });

  test.each([
    ['a;=1+1', "a;'=1+1"],
    ["a;'=1+1", "a;''=1+1"],
    ['a;@b;"+1', "a;'@b;\"'+1"],
    ['a; b=1', 'a; b=1'],
  ])('[D-15] %p is no formula where ";" separates cells', (question, escaped) => {
    expect(escapeFormula(question)).toBe(escaped);
    const quiz = { ...PLANET, question };
    expect(read('fourbeat-csv', written([quiz], 'csv'))).toEqual([quiz]);
  });
});

test('[D-15] an export as CSV has parts of at most 20 quizzes, one header and one byte order mark', () => {
  const quizzes = Array.from({ length: 45 }, (_, n) => ({ ...PLANET, question: `Question ${n}?` }));
  const parts = [...serializeQuizzes(quizzes, 'csv')];
  expect(parts.map((part) => part.split('\r\n').length - 1)).toEqual([1, 20, 20, 5]);
  expect(parts.map((part) => part.startsWith('\ufeff'))).toEqual([true, false, false, false]);
  expect(read('fourbeat-csv', parts.join(''))).toEqual(quizzes);
});
