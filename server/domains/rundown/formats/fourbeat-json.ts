import type { Reader } from './entry.ts';
import { memberOf, parsedJson, quizzesIn } from './json-text.ts';

/** What `exportQuizzes` gives: `{"quizzes": […]}`, or the array alone, of quizzes as the API takes them. */
export const readFourbeatJson: Reader = (text, durationMs) => {
  const root = parsedJson(text);
  const quizzes = Array.isArray(root) ? root : memberOf(root, 'quizzes');
  return quizzesIn(quizzes, '`quizzes`, an array').map((quiz, index) => {
    const place = `quiz ${index + 1}`;
    if (quiz === null || typeof quiz !== 'object' || Array.isArray(quiz)) {
      return { place, field: null, reason: 'must be an object' };
    }
    return { place, quiz: { duration: durationMs, ...quiz } };
  });
};
