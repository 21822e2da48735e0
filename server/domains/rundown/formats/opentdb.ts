import { decodeHTML } from 'entities';
import { type Entry, type Flaw, type Reader, Unreadable } from './entry.ts';
import { memberOf, parsedJson, quizzesIn } from './json-text.ts';
import { triviaEntry } from './trivia-quiz.ts';

const NAMES = {
  question: 'question',
  correct: 'correct_answer',
  incorrect: 'incorrect_answers',
};

type Decode = (text: string) => string;

const utf8 = new TextDecoder('utf-8', { fatal: true });
const ofBase64: Decode = (text) => utf8.decode(Buffer.from(text, 'base64'));
// `url3986` writes a plus as %2B, so one that is there is a space of the older `urlLegacy`.
const ofUrl: Decode = (text) => decodeURIComponent(text.replaceAll('+', ' '));

const TYPES_IN_BASE64 = new Set(['multiple', 'boolean'].map((type) => btoa(type)));

/** What https://opentdb.com/api.php answers, in any of its encodings. */
export const readOpenTriviaDb: Reader = (text, durationMs) => {
  const root = parsedJson(text);
  const code = memberOf(root, 'response_code');
  if (typeof code === 'number' && code !== 0) {
    throw new Unreadable(`Open Trivia DB gave no quizzes: response_code is ${code}.`);
  }
  const results = quizzesIn(memberOf(root, 'results'), '`results`, an array');
  const decode = encodingOf(results);
  return results.map((item, index) => entryOf(item, `quiz ${index + 1}`, decode, durationMs));
};

/** The text does not say how it is encoded, and the same for all: its quizzes show it. */
function encodingOf(results: readonly unknown[]): Decode {
  const isBase64 = (item: unknown) => TYPES_IN_BASE64.has(String(memberOf(item, 'type')));
  if (results.length > 0 && results.every(isBase64)) return ofBase64;
  const questions = results.map((item) => String(memberOf(item, 'question')));
  const isUrl = !questions.some((question) => /\s/.test(question));
  return isUrl && questions.some((question) => /%[0-9a-f]{2}/i.test(question)) ? ofUrl : decodeHTML;
}

function entryOf(item: unknown, place: string, decode: Decode, durationMs: number): Entry | Flaw {
  const decoded = (value: unknown) => (typeof value === 'string' ? decode(value) : value);
  const incorrect = memberOf(item, 'incorrect_answers');
  try {
    const quiz = {
      question: decoded(memberOf(item, 'question')),
      correct: decoded(memberOf(item, 'correct_answer')),
      incorrect: Array.isArray(incorrect) ? incorrect.map(decoded) : incorrect,
    };
    const entry = triviaEntry(place, quiz, NAMES, durationMs);
    return decoded(memberOf(item, 'type')) === 'boolean' ? trueFirst(entry) : entry;
  } catch {
    return { place, field: null, reason: 'must be encoded as the quizzes before it' };
  }
}

/** "True" before "False", in which order nobody looks for a hint. */
function trueFirst(entry: Entry): Entry {
  const { quiz } = entry;
  const isPair = Array.isArray(quiz.choices) && [...quiz.choices].sort().join() === 'False,True';
  if (!isPair) return entry;
  return { ...entry, quiz: { ...quiz, choices: ['True', 'False'] }, answerIsFirst: false };
}
