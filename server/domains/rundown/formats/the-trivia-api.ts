import type { Reader } from './entry.ts';
import { memberOf, parsedJson, quizzesIn } from './json-text.ts';
import { triviaEntry } from './trivia-quiz.ts';

const NAMES = {
  question: 'question.text',
  correct: 'correctAnswer',
  incorrect: 'incorrectAnswers',
};

/** What https://the-trivia-api.com answers to `/v2/questions`: an array of questions. */
export const readTheTriviaApi: Reader = (text, durationMs) =>
  quizzesIn(parsedJson(text), 'array of questions').map((item, index) => {
    const quiz = {
      question: memberOf(memberOf(item, 'question'), 'text'),
      correct: memberOf(item, 'correctAnswer'),
      incorrect: memberOf(item, 'incorrectAnswers'),
    };
    return triviaEntry(`quiz ${index + 1}`, quiz, NAMES, durationMs);
  });
