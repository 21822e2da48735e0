import { decodeHTML } from 'entities';
import { type ImportIssue, type QuizEntry, type QuizReader, UnreadableText } from './entry.ts';
import { memberOf, parseJson, requireQuizArray } from './json-text.ts';
import { TEXT_CHARS_MAX, triviaEntry } from './trivia-quiz.ts';

const FIELD_NAMES = {
  question: 'question',
  correct: 'correct_answer',
  incorrect: 'incorrect_answers',
};

/** A character has up to 12 in a URL. */
const ENCODED_CHARS_MAX = 12 * TEXT_CHARS_MAX;

type Decode = (text: string) => string;

const utf8 = new TextDecoder('utf-8', { fatal: true });
const decodeBase64: Decode = (text) => utf8.decode(Buffer.from(text, 'base64'));
// `url3986` encodes a plus as %2B, so a literal plus is a space of the older `urlLegacy`.
const decodeUrl: Decode = (text) => decodeURIComponent(text.replaceAll('+', ' '));

const TYPES_IN_BASE64 = new Set(['multiple', 'boolean'].map((type) => btoa(type)));

/** Reads a response of https://opentdb.com/api.php in any of its encodings. */
export const readOpenTriviaDb: QuizReader = (text, durationMs) => {
  const root = parseJson(text);
  const code = memberOf(root, 'response_code');
  if (typeof code === 'number' && code !== 0) {
    throw new UnreadableText(`Open Trivia DB gave no quizzes: response_code is ${code}.`);
  }
  const results = requireQuizArray(memberOf(root, 'results'), '`results`, an array');
  const decode = detectDecoder(results);
  return results.map((item, index) => readEntry(item, `quiz ${index + 1}`, decode, durationMs));
};

/** Detects the encoding, which all quizzes share, from their content; the response does not name it. */
function detectDecoder(results: readonly unknown[]): Decode {
  const isBase64 = (item: unknown) => TYPES_IN_BASE64.has(textOf(item, 'type'));
  if (results.length > 0 && results.every(isBase64)) return decodeBase64;
  const questions = results.map((item) => textOf(item, 'question'));
  const isUrl = !questions.some((question) => /\s/.test(question));
  return isUrl && questions.some((question) => /%[0-9a-f]{2}/i.test(question))
    ? decodeUrl
    : decodeHTML;
}

function textOf(item: unknown, name: string): string {
  const value = memberOf(item, name);
  return typeof value === 'string' ? value : '';
}

function readEntry(
  item: unknown,
  location: string,
  decode: Decode,
  durationMs: number,
): QuizEntry | ImportIssue {
  const decoded = (value: unknown) =>
    typeof value === 'string' && value.length <= ENCODED_CHARS_MAX ? decode(value) : value;
  const incorrect = memberOf(item, 'incorrect_answers');
  try {
    const quiz = {
      question: decoded(memberOf(item, 'question')),
      correct: decoded(memberOf(item, 'correct_answer')),
      incorrect: Array.isArray(incorrect) ? incorrect.map(decoded) : incorrect,
    };
    const entry = triviaEntry(location, quiz, FIELD_NAMES, durationMs);
    return decoded(memberOf(item, 'type')) === 'boolean' ? orderTrueFalse(entry) : entry;
  } catch {
    return { location, field: null, reason: 'must be encoded as the quizzes before it' };
  }
}

/** Puts "True" before "False", an order that does not reveal the answer. */
function orderTrueFalse(entry: QuizEntry): QuizEntry {
  const { quiz } = entry;
  const isPair = Array.isArray(quiz.choices) && [...quiz.choices].sort().join() === 'False,True';
  if (!isPair) return entry;
  return { ...entry, quiz: { ...quiz, choices: ['True', 'False'] }, answerIsFirst: false };
}
