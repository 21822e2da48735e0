import type { RequestBatch, ViewersRequest } from '../load/viewers-requests.ts';
import { IncorrectResponse } from './bench.ts';
import type { Fourbeat } from './fourbeat.ts';

/** A quiz that viewers can answer. */
export interface OpenQuiz {
  readonly id: string;
  readonly closeInterval: number;
}

/** The choices of each quiz; the first is correct. */
export const CHOICES = ['Venus', 'Earth', 'Mars', 'Pluto'];
const POLL_MS = 100;

/** Creates drafts of quizzes with this duration. @returns their ids */
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

/** The answers of the viewers to a quiz. Viewers take the choices cyclically. */
export function answerRequests(streamId: string, { id, closeInterval }: OpenQuiz): RequestBatch {
  const answerOf = (choice: string): ViewersRequest => {
    return { body: JSON.stringify({ streamId, choice, closeInterval }), status: 204 };
  };
  return { path: `/api/v1/quizzes/${id}/answer`, requests: CHOICES.map(answerOf) };
}

/**
 * Waits until the quizzes are closed, and compares their counts with the acknowledged answers.
 * @throws IncorrectResponse when they differ
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
      throw new IncorrectResponse(
        `quiz ${at + 1} counts ${counted} answers, ${expected} were acknowledged`,
      );
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
