import { describe, expect, test } from 'bun:test';
import { type ImportIssue, isIssue, type QuizEntry, UnreadableText } from './entry.ts';
import { readOpenTriviaDb } from './opentdb.ts';
import { readTheTriviaApi } from './the-trivia-api.ts';

const DEFAULT_MS = 20_000;
const quizOf = (found: QuizEntry | ImportIssue | undefined) =>
  found && !isIssue(found) ? found.quiz : found;

const HUNCHBACK = {
  question: 'In "Notre-Dame de Paris", who\'s the bell-ringer & hero?',
  choices: ['Quasimodo', 'Frollo', 'Phœbus de Châteaupers', 'Gringoire'],
  answer: 'Quasimodo',
  duration: DEFAULT_MS,
};
const EARTH = { question: 'The Earth is 100% flat.', choices: ['True', 'False'], answer: 'False' };

const encoded = (encode: (text: string) => string, all = encode) => ({
  response_code: 0,
  results: [
    {
      type: all('multiple'),
      difficulty: all('medium'),
      category: encode('Entertainment: Books'),
      question: encode(HUNCHBACK.question),
      correct_answer: encode(HUNCHBACK.answer),
      incorrect_answers: HUNCHBACK.choices.slice(1).map(encode),
    },
    {
      type: all('boolean'),
      difficulty: all('easy'),
      category: encode('General Knowledge'),
      question: encode(EARTH.question),
      correct_answer: encode('False'),
      incorrect_answers: [encode('True')],
    },
  ],
});

const entities = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#039;')
    .replaceAll('œ', '&oelig;')
    .replaceAll('â', '&acirc;');
const plain = (text: string) => text;
const rfc3986 = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const legacy = (text: string) => rfc3986(text).replaceAll('%20', '+');
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('opentdb', () => {
  test.each([
    ['HTML entities', encoded(entities, plain)],
    ['plain text', encoded(plain)],
    ['url3986', encoded(rfc3986, plain)],
    ['urlLegacy', encoded(legacy, plain)],
    ['base64', encoded(base64)],
  ])('[D-12] opentdb reads %s', (_, answer) => {
    const entries = readOpenTriviaDb(JSON.stringify(answer), DEFAULT_MS);
    expect(entries.map(quizOf)).toEqual([HUNCHBACK, { ...EARTH, duration: DEFAULT_MS }]);
  });

  test('[D-12] [D-14] opentdb marks the correct answer as first, except for true and false', () => {
    const entries = readOpenTriviaDb(JSON.stringify(encoded(entities, plain)), DEFAULT_MS);
    expect(entries.map((entry) => !isIssue(entry) && entry.answerIsFirst)).toEqual([true, false]);
  });

  test('[D-12] opentdb collapses white space to one space', () => {
    const answer = encoded(plain);
    Object.assign(answer.results[0] ?? {}, { question: ' Who&nbsp;is\r\n  it? ' });
    expect(quizOf(readOpenTriviaDb(JSON.stringify(answer), DEFAULT_MS)[0])).toMatchObject({
      question: 'Who is it?',
    });
  });

  test('[D-7] opentdb reports a quiz that cannot be decoded', () => {
    const answer = encoded(rfc3986, plain);
    Object.assign(answer.results[1] ?? {}, { correct_answer: '100%ZZ' });
    const entries = readOpenTriviaDb(JSON.stringify(answer), DEFAULT_MS);
    expect(entries[1]).toMatchObject({
      location: 'quiz 2',
      reason: expect.stringContaining('encoded'),
    });
    const binary = encoded(base64);
    Object.assign(binary.results[0] ?? {}, { question: Buffer.from([0xff]).toString('base64') });
    expect(readOpenTriviaDb(JSON.stringify(binary), DEFAULT_MS)[0]).toHaveProperty('reason');
  });

  test.each([
    ['another response code', '{"response_code":5,"results":[]}', 'response_code is 5'],
    ['no results', '{"response_code":0}', 'no `results`'],
    ['an array', '[]', 'no `results`'],
    ['a page instead', '<!doctype html>', 'not valid JSON'],
  ])('[D-7] opentdb rejects a response with %s', (_, text, message) => {
    const read = () => readOpenTriviaDb(text, DEFAULT_MS);
    expect(read).toThrow(UnreadableText);
    expect(read).toThrow(message);
  });

  test.each([
    'null',
    '7',
    '"x"',
    '[]',
    '{}',
    '{"incorrect_answers":7}',
    '{"question":{}}',
    '{"question":{"toString":1}}',
  ])('[D-7] opentdb reads a result that is %s as an empty entry', (item) => {
    const [entry] = readOpenTriviaDb(`{"results":[${item}]}`, DEFAULT_MS);
    expect(entry).toMatchObject({ location: 'quiz 1', quiz: { choices: [undefined] } });
  });
});

const SAMPLE = [
  {
    category: 'film_and_tv',
    id: '622a1c377cc59eab6f9506cd',
    correctAnswer: 'Whoopi Goldberg',
    incorrectAnswers: ['Demi Moore', 'Kathy Bates', 'Anjelica Huston'],
    question: { text: "Who played 'Oda Mae Brown' in 'Ghost'?" },
    tags: ['film', 'acting', 'film_and_tv'],
    type: 'text_choice',
    difficulty: 'hard',
    regions: [],
    isNiche: false,
  },
];

describe('the-trivia-api', () => {
  test('[D-12] the-trivia-api reads an array of questions with a separate correct answer', () => {
    expect(readTheTriviaApi(JSON.stringify(SAMPLE), DEFAULT_MS)).toMatchObject([
      {
        location: 'quiz 1',
        quiz: {
          question: "Who played 'Oda Mae Brown' in 'Ghost'?",
          choices: ['Whoopi Goldberg', 'Demi Moore', 'Kathy Bates', 'Anjelica Huston'],
          answer: 'Whoopi Goldberg',
          duration: DEFAULT_MS,
        },
        fieldNames: {
          question: 'question.text',
          'choices.0': 'correctAnswer',
          'choices.2': 'incorrectAnswers 2',
        },
        answerIsFirst: true,
      },
    ]);
  });

  test('[D-7] the-trivia-api rejects a value that is no array', () => {
    expect(() => readTheTriviaApi('{"questions":[]}', DEFAULT_MS)).toThrow('no array of questions');
  });
});

test('[D-7] opentdb leaves a text as it is that is too long for a quiz', () => {
  const question = `${'a+'.repeat(200_000)}%20`;
  const quiz = { type: 'boolean', question, correct_answer: 'True', incorrect_answers: ['False'] };
  const [entry] = readOpenTriviaDb(JSON.stringify({ response_code: 0, results: [quiz] }), 10_000);
  expect(entry).toMatchObject({ quiz: { question } });
});
