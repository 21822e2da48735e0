import type { Quiz } from '../../../protocol/quizzes.ts';
import type { Crowd } from './crowd.ts';
import type { Oracle } from './oracle.ts';
import type { Producer } from './producer.ts';
import type { Readers } from './readers.ts';

/** Everybody who takes part in the show of one stream. */
export interface Cast {
  readonly oracle: Oracle;
  readonly producer: Producer;
  readonly crowd: Crowd;
  readonly readers: Readers;
  readonly random: () => number;
  /** Told of a quiz that viewers can answer now. */
  readonly onQuestion?: (quiz: Quiz) => void;
}

/** Share of the rounds with two quizzes at once. */
const TWO_QUIZZES = 0.3;

/** One game: a quiz or two, their results, and who won. The oracle checks what can be checked. */
export async function playRound(cast: Cast): Promise<void> {
  const { oracle, producer, crowd, readers, random, onQuestion } = cast;
  const drafts = [await producer.draft(0)];
  if (random() < TWO_QUIZZES) drafts.push(await producer.draft(2));
  const published = Promise.all(drafts.map((id) => producer.publish(id)));
  await Promise.all(
    drafts.map(async (id) => {
      const quiz = (await readers.next('quiz', id)).data as Quiz;
      onQuestion?.(quiz);
      await crowd.answer(quiz);
    }),
  );
  const quizzes = await published;
  for (const { id } of quizzes) oracle.checkResults(await readers.next('quiz-results', id));
  await Promise.all([producer.requestWinners(quizzes), readers.next('request-quiz-winners')]);
  await Promise.all([crowd.claim(quizzes), readers.next('quiz-winners')]);
}
