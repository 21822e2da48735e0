import type { ImportFormat } from '../../protocol/rundown.ts';

/** A text that can be imported, to try it and to see the columns. */
export const SAMPLE_CSV = `question,choice 1,choice 2,choice 3,answer,duration
Which planet is the largest?,Mars,Jupiter,Venus,Jupiter,15000
"How many legs does a spider have?",6,8,10,8,10000
Is the Great Wall of China visible from the Moon?,Yes,No,,No,10000
`;

// Title rows may precede the header of a table.
const HEADER_LINES_MAX = 20;
const FOURBEAT_COLUMNS = ['question', 'choice 1', 'choice 2', 'answer'];
const CELL_EDGES = /[,;\t]/;

/** The format of a text to import (SPEC D-18), by its members or columns; null: none is recognized. */
export function detectFormat(text: string): ImportFormat | null {
  const content = text.replace(/^\ufeff/, '').trimStart();
  return /^[[{]/.test(content) ? detectJson(content) : detectTable(content);
}

function detectJson(text: string): ImportFormat | null {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    // The import says what is wrong with the text; its first member says what it was meant to be.
    return /^\{\s*"(?:response_code|results)"/.test(text) ? 'opentdb' : null;
  }
  if (Array.isArray(root)) {
    const [first] = root;
    if (hasMember(first, 'correctAnswer')) return 'the-trivia-api';
    return hasMember(first, 'choices') ? 'fourbeat-json' : null;
  }
  if (hasMember(root, 'quizzes')) return 'fourbeat-json';
  return hasMember(root, 'results') || hasMember(root, 'response_code') ? 'opentdb' : null;
}

function hasMember(value: unknown, name: string): boolean {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, name);
}

function detectTable(text: string): ImportFormat | null {
  for (const line of text.split(/\r\n?|\n/, HEADER_LINES_MAX)) {
    const cells = line
      .split(CELL_EDGES)
      .map((cell) => cell.replace(/^\s*"?|"?\s*$/g, '').toLowerCase());
    if (FOURBEAT_COLUMNS.every((name) => cells.includes(name))) return 'fourbeat-csv';
    const has = (start: string) => cells.some((cell) => cell.startsWith(start));
    if (has('question') && has('answer 1') && has('correct answer')) return 'kahoot-csv';
  }
  return null;
}
