import { ChangedMeanwhile } from '../../platform/errors.ts';
import type { Step } from '../../platform/pace.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';
import type { OwnStream } from '../streams/streams-sql.ts';
import type { OrderedQuiz, rundownProcedures } from './rundown-sql.ts';

/** What reads rundowns from the store. */
export type RundownStore = Pick<
  Calls<typeof rundownProcedures>,
  'readRundownOrder' | 'listQuizzes'
>;

/**
 * A rundown of 2,000 quizzes can have 39 MB of JSON, which at once block the event loop for 600 ms; 100 of the longest
 * quizzes block it for 56 ms.
 */
const PAGE_QUIZZES = 50;
/** How often the quizzes that changed meanwhile are read. */
const TRIES_MAX = 10;

/** What was made of the quizzes of a stream, in rundown order. */
export interface Rundown<T> {
  readonly quizzes: T[];
  readonly revision: number;
}

/**
 * Reads a rundown in pages and maps each quiz. When it changes between two pages, what changed is read again. The
 * result is that of one revision, but a quiz may close or be revealed between two pages.
 * @throws DomainError `not-found`
 * @throws Unavailable when it changes between all reads
 */
export async function readRundown<T>(
  store: RundownStore,
  own: OwnStream,
  step: Step,
  make: (quiz: QuizRow) => T,
): Promise<Rundown<T>> {
  const made = new Map<string, T>();
  const versions = new Map<string, string>();
  const readPage = async (ids: readonly string[]) => {
    const { quizzes, revision } = await store.listQuizzes({ ...own, ids });
    for (const quiz of quizzes) {
      made.set(quiz.id, make(quiz));
      versions.set(quiz.id, versionOf(quiz));
    }
    return revision;
  };
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const { order, revision } = await step(() => store.readRundownOrder(own));
    const changed = order.filter((quiz) => versions.get(quiz.id) !== versionOf(quiz));
    let isUnchanged = true;
    for (const ids of pagesOf(changed)) {
      const pageRevision = await step(() => readPage(ids));
      isUnchanged &&= pageRevision === revision;
    }
    if (isUnchanged) return { quizzes: order.map(({ id }) => made.get(id) as T), revision };
  }
  throw new ChangedMeanwhile('The rundown changes all the time; try again.');
}

/** What changes with everything that a list has of a quiz, besides its position. */
const versionOf = ({ state, revision }: OrderedQuiz) => `${state} ${revision}`;

function* pagesOf(quizzes: readonly OrderedQuiz[]): Generator<string[]> {
  for (let start = 0; start < quizzes.length; start += PAGE_QUIZZES) {
    yield quizzes.slice(start, start + PAGE_QUIZZES).map(({ id }) => id);
  }
}

/** The memory of the texts of quizzes, bytes. */
export const memoryOf = (quizzes: readonly Pick<QuizRow, 'question' | 'choices'>[]) =>
  quizzes.reduce((sum, { question, choices }) => sum + 2 * (question + choices.join('')).length, 0);
