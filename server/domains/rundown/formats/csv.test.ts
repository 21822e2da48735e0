import { describe, expect, test } from 'bun:test';
import { isIssue, UnreadableText } from './entry.ts';
import { readFourbeatCsv } from './fourbeat-csv.ts';
import { readKahootCsv } from './kahoot-csv.ts';

const DEFAULT_MS = 20_000;
const quizzesOf = (text: string) =>
  readFourbeatCsv(text, DEFAULT_MS).map((entry) => (isIssue(entry) ? entry : entry.quiz));
const locationsOf = (text: string) =>
  readFourbeatCsv(text, DEFAULT_MS).map(({ location }) => location);

const QUIZ = {
  question: 'Which?',
  choices: ['a', 'b'],
  answer: 'b',
  duration: DEFAULT_MS,
};

function errorOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof UnreadableText) return error.message;
    throw error;
  }
  throw new Error('no error');
}

const HEADER = 'question,choice 1,choice 2,answer\n';

describe('fourbeat-csv', () => {
  test('[D-10] fourbeat-csv reads columns in any order and case, with optional columns left out', () => {
    const text = 'Answer, Question ,CHOICE 2,choice 1\nb,Which?,b,a\n';
    expect(quizzesOf(text)).toEqual([QUIZ]);
    const full =
      'question,choice 1,choice 2,choice 3,answer,duration,reveal\nWhich?,a,b,,b,5000,manual';
    expect(quizzesOf(full)).toEqual([{ ...QUIZ, duration: 5_000, reveal: 'manual' } as never]);
  });

  test.each([
    ['line feeds', `${HEADER}Which?,a,b,b\n`],
    ['CRLF and a byte order mark', '\ufeffquestion,choice 1,choice 2,answer\r\nWhich?,a,b,b\r\n'],
    ['semicolons', 'question;choice 1;choice 2;answer\r\nWhich?;a;b;b\r\n'],
    ['tabs', 'question\tchoice 1\tchoice 2\tanswer\nWhich?\ta\tb\tb'],
    [
      'quotes everywhere, after a byte order mark',
      '\ufeff"question","choice 1","choice 2","answer"\r\n"Which?","a","b","b"\r\n',
    ],
    ['quotes everywhere', '"question";"choice 1";"choice 2";"answer"\n"Which?";"a";"b";"b"'],
    [
      'a title, blank rows and cells',
      ';;;;\nMy quiz;;;;\n\nquestion;choice 1;choice 2;answer;\n\nWhich?;a;b;b;\n;;;;\n',
    ],
    ['short rows', 'question,choice 1,choice 2,answer,duration,reveal\nWhich?,a,b,b\n'],
  ])('[D-11] fourbeat-csv reads a file with %s', (_, text) => {
    expect(quizzesOf(text)).toEqual([QUIZ]);
  });

  test('[D-11] fourbeat-csv keeps delimiters, quotes and spaces in cells', () => {
    const text =
      'question;choice 1;choice 2;answer\n" Who said ""no, never; not""?  ";1,5;" 2,5";" 2,5"\n';
    expect(quizzesOf(text)).toEqual([
      {
        ...QUIZ,
        question: ' Who said "no, never; not"?  ',
        choices: ['1,5', ' 2,5'],
        answer: ' 2,5',
      },
    ]);
  });

  test('[D-7] [D-11] fourbeat-csv locates rows by the line at which they begin', () => {
    const text =
      'question,choice 1,choice 2,answer\r\n"Which\r\none?",a,b,b\r\n\r\nWhich?,a,b,b\r\n"W?",a,"b",b';
    expect(locationsOf(text)).toEqual(['line 2', 'line 5', 'line 6']);
  });

  test.each([
    ['nothing', ' ', 'no row with the columns question, choice 1, choice 2, answer'],
    ['no header', 'Which?,a,b,b\n', 'no row with the columns'],
    [
      'an unknown column',
      'question,choice 1,choice 2,choise 3,answer\n',
      'line 1: unknown column "choise 3"',
    ],
    [
      'a column twice',
      '\nquestion,choice 1,choice 2,answer,Answer\n',
      'line 2: two columns "answer"',
    ],
    ['a quote that stays open', `${HEADER}"Which?,a,b,b\n`, 'ends within quotes'],
    ['a quote within a cell', `${HEADER}x,a,b,b\nWho is "B"?,a,b,b\n`, 'line 3: a quote'],
    ['text after a quote', `${HEADER}"B" is who?,a,b,b\n`, 'line 2: a quote'],
    ['too many rows', `${HEADER}${'\n'.repeat(1_001)}`, 'over 1000 rows'],
    [
      'a row that is too long',
      `${HEADER}${"'".repeat(70_000)},a,b,b\n`,
      'line 2: has over 65536 bytes',
    ],
    ['too many cells in a row', `${HEADER}${','.repeat(1_000_000)}`, 'over 64 cells'],
  ])('[D-7] fourbeat-csv rejects a file with %s', (_, text, message) => {
    expect(errorOf(() => readFourbeatCsv(text, DEFAULT_MS))).toContain(message);
  });

  test('[D-11] fourbeat-csv finds the header before rows of 64 KB, and in the first 20 rows only', () => {
    const wide = `${'x'.repeat(60_000)},a,b,b\n`;
    expect(quizzesOf(`${HEADER}${wide}`)).toHaveLength(1);
    expect(quizzesOf(`${'\n'.repeat(19)}${HEADER}${wide}`)).toHaveLength(1);
    const after20 = errorOf(() => readFourbeatCsv(`${'\n'.repeat(20)}${HEADER}`, DEFAULT_MS));
    expect(after20).toContain('no row with the columns');
  });

  test('[D-11] fourbeat-csv reads at most 4 KB of a title before the header', () => {
    expect(quizzesOf(`${'x'.repeat(4_000)}\n${HEADER}Which?,a,b,b\n`)).toHaveLength(1);
    const text = `${'x'.repeat(5_000)}\n${HEADER}Which?,a,b,b\n`;
    expect(errorOf(() => readFourbeatCsv(text, DEFAULT_MS))).toContain('no row with the columns');
  });

  test('[D-7] [D-11] fourbeat-csv locates a wrong quote in a text with semicolons', () => {
    const rows = 'Which?;"a, b";b;b\n'.repeat(30);
    const text = `question;choice 1;choice 2;answer\n${rows}Who is "B"?;a;b;b\n`;
    expect(errorOf(() => readFourbeatCsv(text, DEFAULT_MS))).toStartWith('line 32: a quote');
  });

  test('[D-7] fourbeat-csv reports a row with more cells than the header', () => {
    const text = `${HEADER}Which?,a,b,b,c\n`;
    expect(quizzesOf(text)).toEqual([
      { location: 'line 2', field: null, reason: 'has more cells than the header' } as never,
    ]);
  });
});

// The template of Kahoot! as Excel saves it, with its title and its numbered rows.
const KAHOOT_TITLE = [
  ',Quiz template,,,,,,',
  ',"Add questions, at least two answer alternatives, time limit and choose correct answers (at least one). Have fun creating your awesome quiz!",,,,,,',
  ',Remember: questions have a limit of 120 characters and answers can have 75 characters max. Text will turn red in Excel or Google Docs if you exceed this limit. ,,,,,,',
  ',,,,,,,',
  ',Question - max 120 characters,Answer 1 - max 75 characters,Answer 2 - max 75 characters,Answer 3 - max 75 characters,Answer 4 - max 75 characters,"Time limit (sec) \u2013 5, 10, 20, 30, 60, 90, 120, or 240 secs",Correct answer(s) - choose at least one',
];
const kahoot = (...rows: string[]) =>
  readKahootCsv([...KAHOOT_TITLE, ...rows, ''].join('\r\n'), DEFAULT_MS);
const correctAnswerIssue = (reason: string) => [
  { location: 'line 6', field: 'Correct answer(s)', reason },
];

describe('kahoot-csv', () => {
  test('[D-13] kahoot-csv reads the template: time in seconds, correct answer by number', () => {
    const entries = kahoot(
      '1,"Which city hosted the Olympics in 1992, and where is it?",Barcelona,"Seoul,  Korea",Atlanta,Sydney,30,1',
      '2,Is the Earth flat?,True,False,,,,2',
      '3,A gap?,one,,three,,5,3',
      '4,,,,,,,',
      '5,,,,,,20,',
    );
    expect(entries.map((entry) => (isIssue(entry) ? entry : entry.quiz))).toEqual([
      {
        question: 'Which city hosted the Olympics in 1992, and where is it?',
        choices: ['Barcelona', 'Seoul, Korea', 'Atlanta', 'Sydney'],
        answer: 'Barcelona',
        duration: 30_000,
      },
      {
        question: 'Is the Earth flat?',
        choices: ['True', 'False'],
        answer: 'False',
        duration: DEFAULT_MS,
      },
      { question: 'A gap?', choices: ['one', 'three'], answer: 'three', duration: 5_000 },
    ]);
    expect(entries.map(({ location }) => location)).toEqual(['line 6', 'line 7', 'line 8']);
  });

  test('[D-13] kahoot-csv reads short headers, without row numbers and with semicolons', () => {
    const text =
      'Question;Answer 1;Answer 2;Answer 3;Answer 4;Time limit (sec);Correct answer(s)\nWhich?;a;b;;;10;2\n';
    expect(readKahootCsv(text, DEFAULT_MS)).toMatchObject([
      { quiz: { ...QUIZ, duration: 10_000 } },
    ]);
  });

  test.each([
    ['"1,3"', 'names 1 and 3, and a quiz here has one correct answer'],
    ['1;2;3', 'names 1 and 2 and 3, and a quiz here has one correct answer'],
    ['', 'must be the number of the correct answer'],
    ['Barcelona', 'must be the number of the correct answer'],
    ['3', 'is 3, and there is no answer 3'],
    ['7', 'is 7, and there is no answer 7'],
  ])('[D-13] [D-7] kahoot-csv reports a correct answer of %s', (cell, reason) => {
    expect(kahoot(`1,Which?,Barcelona,Seoul,,,20,${cell}`)).toEqual(correctAnswerIssue(reason));
  });

  test('[D-7] kahoot-csv names no answer of a long list of numbers', () => {
    expect(kahoot(`1,Which?,Barcelona,Seoul,,,20,${'1 2 '.repeat(10_000)}`)).toEqual(
      correctAnswerIssue('must be the number of the correct answer'),
    );
  });

  test('[D-7] kahoot-csv rejects a sheet without its header', () => {
    expect(errorOf(() => readKahootCsv('a,b\n1,2\n', DEFAULT_MS))).toContain('columns Question');
  });
});
