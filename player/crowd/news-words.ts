import type { Line } from './chat-items.ts';

/** So many lines are read out; of more, their number. */
const READ_OUT_MAX = 3;

const SAYS: Record<Line['kind'], string> = {
  message: ' says:',
  question: ' asks:',
  greeting: ' greets:',
  cheer: ' cheers:',
  // Its text is what somebody did, such as "bought two mugs".
  purchase: '',
};

/** @returns what came after the line that was the newest; all, when it is not there any more */
export function linesAfter<T extends { readonly id: string }>(
  lines: readonly T[],
  newest: string | null,
): readonly T[] {
  return lines.slice(lines.findIndex(({ id }) => id === newest) + 1);
}

/** What is read out of new lines; null: nothing. A crowd is told as a number. */
export function newsOf(lines: readonly Line[]): string | null {
  if (lines.length === 0) return null;
  if (lines.length <= READ_OUT_MAX) return lines.map(readOut).join(' ');
  const questions = lines.filter(({ kind }) => kind === 'question').length;
  const asked =
    questions === 0 ? '' : `, ${questions} of them ${questions > 1 ? 'questions' : 'a question'}`;
  return `${lines.length} new lines in the chat${asked}.`;
}

function readOut({ kind, name, text }: Line): string {
  return `${name || 'Somebody'}${SAYS[kind]} ${text}`;
}
