import type { QuizReader } from './entry.ts';
import { memberOf, parseJson, requireQuizArray } from './json-text.ts';
import { triviaEntry } from './trivia-quiz.ts';

const FIELD_NAMES = {
  question: 'question.text',
  correct: 'correctAnswer',
  incorrect: 'incorrectAnswers',
};

/** Reads a response of https://the-trivia-api.com/v2/questions, an array of questions. */
export const readTheTriviaApi: QuizReader = (text, durationMs) =>
  requireQuizArray(parseJson(text), 'array of questions').map((item, index) => {
    const quiz = {
      question: memberOf(memberOf(item, 'question'), 'text'),
      correct: memberOf(item, 'correctAnswer'),
      incorrect: memberOf(item, 'incorrectAnswers'),
    };
    return triviaEntry(`quiz ${index + 1}`, quiz, FIELD_NAMES, durationMs);
  });
