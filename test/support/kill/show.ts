import type { Quiz } from '../../../protocol/quizzes.ts';
import type { AnsweringClients } from './answering-clients.ts';
import type { ConsistencyChecker } from './consistency-checker.ts';
import type { Producer } from './producer.ts';
import type { Readers } from './readers.ts';

/** The parts of a test show of one stream. */
export interface ShowParts {
  readonly checker: ConsistencyChecker;
  readonly producer: Producer;
  readonly answerers: AnsweringClients;
  readonly readers: Readers;
  readonly random: () => number;
  /** Called with each quiz that viewers can answer now. */
  readonly onQuestion?: (quiz: Quiz) => void;
}

/** Share of rounds with two concurrent quizzes. */
const TWO_QUIZZES_SHARE = 0.3;

/** Plays one or two quizzes with results and winners, and reports all to the consistency checker. */
export async function playRound(parts: ShowParts): Promise<void> {
  const { checker, producer, answerers, readers, random, onQuestion } = parts;
  const drafts = [await producer.draft(0)];
  if (random() < TWO_QUIZZES_SHARE) drafts.push(await producer.draft(2));
  const published = Promise.all(drafts.map((id) => producer.publish(id)));
  await Promise.all(
    drafts.map(async (id) => {
      const quiz = (await readers.next('quiz', id)).data as Quiz;
      onQuestion?.(quiz);
      await answerers.answer(quiz);
    }),
  );
  const quizzes = await published;
  for (const { id } of quizzes) checker.checkResults(await readers.next('quiz-results', id));
  await Promise.all([producer.requestWinners(quizzes), readers.next('request-quiz-winners')]);
  await Promise.all([answerers.claim(quizzes), readers.next('quiz-winners')]);
}
