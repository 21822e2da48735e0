import type { ViewersRequest, ViewersRound } from '../load/viewers-requests.ts';
import { WrongAnswer } from './bench.ts';
import type { Fourbeat } from './fourbeat.ts';

/** A quiz that viewers can answer. */
export interface OpenQuiz {
  readonly id: string;
  readonly closeInterval: number;
}

/** The first is correct. */
export const CHOICES = ['Venus', 'Earth', 'Mars', 'Pluto'];
const POLL_MS = 100;

/** Makes drafts of quizzes that are open for so long once they are published. @returns their ids */
export async function draftQuizzes(
  { studio, streamId }: Fourbeat,
  count: number,
  durationMs: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= count; n++) {
    const question = `Which of them, in round ${n}?`;
    const quiz = { question, choices: CHOICES, answer: CHOICES[0], duration: durationMs };
    ids.push((await studio<{ id: string }>('POST', `/streams/${streamId}/quizzes`, quiz)).id);
  }
  return ids;
}

export function publishQuiz({ studio }: Fourbeat, id: string): Promise<OpenQuiz> {
  return studio<OpenQuiz>('POST', `/quizzes/${id}/publish`);
}

/** What the viewers of a stream answer to a quiz, each choice as often as the others. */
export function answersTo(
  streamId: string,
  { id, closeInterval }: Pick<OpenQuiz, 'id' | 'closeInterval'>,
): ViewersRound {
  const answerOf = (choice: string): ViewersRequest => {
    return { body: JSON.stringify({ streamId, choice, closeInterval }), status: 204 };
  };
  return { path: `/api/v1/quizzes/${id}/answer`, requests: CHOICES.map(answerOf) };
}

/**
 * Waits until they are closed, and looks whether each counted as many answers as were acknowledged.
 * @throws WrongAnswer when one did not
 */
export async function checkCounts(
  { studio }: Pick<Fourbeat, 'studio'>,
  ids: readonly string[],
  acknowledged: readonly number[],
): Promise<void> {
  for (const [at, id] of ids.entries()) {
    const counted = await finalCount(studio, id);
    const expected = acknowledged[at] ?? 0;
    if (counted !== expected) {
      throw new WrongAnswer(`quiz ${at} counts ${counted} answers, ${expected} were acknowledged`);
    }
  }
}

async function finalCount(studio: Fourbeat['studio'], id: string): Promise<number> {
  type Counts = Record<string, { count: number }> | null;
  for (;;) {
    const { counts } = await studio<{ counts: Counts }>('GET', `/quizzes/${id}`);
    if (counts) return Object.values(counts).reduce((sum, { count }) => sum + count, 0);
    await Bun.sleep(POLL_MS);
  }
}
