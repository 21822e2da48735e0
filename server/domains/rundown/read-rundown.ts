import type { Step } from '../../platform/pace.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';
import type { OwnStream } from '../streams/streams-sql.ts';
import { ALL_QUIZZES, type rundownProcedures } from './rundown-sql.ts';

type RundownStore = Pick<Calls<typeof rundownProcedures>, 'listQuizzes'>;

/** A rundown of 2,000 quizzes can have 39 MB of JSON, which at once block the event loop for 600 ms. */
const PAGE_QUIZZES = 100;
/** How often a rundown that changes meanwhile is read in pages, before it is read at once. */
const TRIES_MAX = 3;

/** What was made of the quizzes of a stream, in rundown order. */
export interface Rundown<T> {
  readonly quizzes: T[];
  readonly revision: number;
}

/**
 * Reads a rundown in pages and maps each quiz. All pages have the same revision, but a quiz may close or be
 * revealed between two pages.
 * @throws DomainError `not-found`
 */
export async function readRundown<T>(
  store: RundownStore,
  own: OwnStream,
  step: Step,
  make: (quiz: QuizRow) => T,
): Promise<Rundown<T>> {
  for (let tries = 1; ; tries++) {
    const limit = tries <= TRIES_MAX ? PAGE_QUIZZES : ALL_QUIZZES.limit;
    const rundown = await readRevision(store, { ...own, limit }, step, make);
    if (rundown) return rundown;
  }
}

/** @returns null when the rundown changes between two pages */
async function readRevision<T>(
  store: RundownStore,
  own: OwnStream & { readonly limit: number },
  step: Step,
  make: (quiz: QuizRow) => T,
): Promise<Rundown<T> | null> {
  const read: { readonly quiz: T; readonly position: number }[] = [];
  let revision: number | null = null;
  for (let after = ALL_QUIZZES.after; ; ) {
    const page = await step(async () => {
      const { quizzes, ...rest } = await store.listQuizzes({ ...own, after });
      const made = quizzes.map((row) => ({ quiz: make(row), position: row.position }));
      return { ...rest, made, last: Math.max(...quizzes.map(({ number }) => number)) };
    });
    revision ??= page.revision;
    if (page.revision !== revision) return null;
    read.push(...page.made);
    if (page.made.length < own.limit) break;
    after = page.last;
  }
  read.sort((a, b) => a.position - b.position);
  return { quizzes: read.map(({ quiz }) => quiz), revision };
}
