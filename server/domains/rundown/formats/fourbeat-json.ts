import type { QuizReader } from './entry.ts';
import { memberOf, parseJson, requireQuizArray } from './json-text.ts';

/** Reads the JSON of `exportQuizzes`, `{"quizzes": […]}`, or the array alone. */
export const readFourbeatJson: QuizReader = (text, durationMs) => {
  const root = parseJson(text);
  const quizzes = Array.isArray(root) ? root : memberOf(root, 'quizzes');
  return requireQuizArray(quizzes, '`quizzes`, an array').map((quiz, index) => {
    const location = `quiz ${index + 1}`;
    if (quiz === null || typeof quiz !== 'object' || Array.isArray(quiz)) {
      return { location, field: null, reason: 'must be an object' };
    }
    return { location, quiz: { duration: durationMs, ...quiz } };
  });
};
