import { describe, expect, test } from 'bun:test';
import { detectFormat, SAMPLE_CSV } from './import-format.ts';

const QUESTION = {
  category: 'General Knowledge',
  type: 'boolean',
  difficulty: 'easy',
  question: 'Is &quot;D&quot; 500?',
  correct_answer: 'True',
  incorrect_answers: ['False'],
};
const QUIZ = { question: 'Which?', choices: ['a', 'b'], answer: 'a' };
const TRIVIA = { correctAnswer: 'a', incorrectAnswers: ['b'], question: { text: 'Which?' } };
const KAHOOT =
  'Question - max 120 characters,Answer 1 - max 75 characters,Answer 2,Time limit (sec),Correct answer(s)';

describe('the format of a text to import', () => {
  test.each([
    ['opentdb', 'a response', JSON.stringify({ response_code: 0, results: [QUESTION] })],
    ['opentdb', 'an empty response', '\ufeff {"response_code":1,"results":[]}'],
    ['opentdb', 'a response that was cut', '{"response_code":0,"results":[{"type":"bool'],
    ['the-trivia-api', 'questions', JSON.stringify([TRIVIA])],
    ['fourbeat-json', 'an export', JSON.stringify({ quizzes: [QUIZ] })],
    ['fourbeat-json', 'an array of quizzes', JSON.stringify([QUIZ], null, 2)],
    // Words of a question do not decide.
    [
      'fourbeat-json',
      'a quiz about response_code',
      JSON.stringify({ quizzes: [{ ...QUIZ, question: '"response_code", "results"?' }] }),
    ],
    ['fourbeat-csv', 'the sample', SAMPLE_CSV],
    ['fourbeat-csv', 'columns in another order and case', 'Answer;Choice 2;CHOICE 1;Question\n'],
    ['kahoot-csv', 'the template with a title', `Quiz template\r\n\r\n${KAHOOT}\r\n1,Which?,a,b`],
  ] as const)('[D-18] %s is recognized in %s', (format, _, text) => {
    expect(detectFormat(text)).toBe(format);
  });

  test.each([
    ['nothing', ''],
    ['prose', 'Which planet is the largest?'],
    ['other JSON', '{"name": "Ada"}'],
    ['an empty array', '[]'],
    ['a header without choices', 'question,answer\n'],
  ])('[D-18] no format is recognized in %s', (_, text) => {
    expect(detectFormat(text)).toBeNull();
  });
});
