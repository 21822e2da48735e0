import type { Quiz } from '../../../protocol/quizzes.ts';
import type { AnsweringClients } from './answering-clients.ts';
import type { Oracle } from './oracle.ts';
import type { Producer } from './producer.ts';
import type { Readers } from './readers.ts';

/** The parts of a test show of one stream. */
export interface ShowParts {
  readonly oracle: Oracle;
  readonly producer: Producer;
  readonly crowd: AnsweringClients;
  readonly readers: Readers;
  readonly random: () => number;
  /** Called with each quiz that viewers can answer now. */
  readonly onQuestion?: (quiz: Quiz) => void;
}

/** Share of rounds with two concurrent quizzes. */
const TWO_QUIZZES = 0.3;

/** Plays a game of one or two quizzes with results and winners, checked by the oracle. */
export async function playRound(parts: ShowParts): Promise<void> {
  const { oracle, producer, crowd, readers, random, onQuestion } = parts;
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
