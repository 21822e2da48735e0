import type { QuizRow } from '../../../server/domains/quizzes/quizzes-sql.ts';
import {
  type Rundown,
  type RundownStore,
  readRundown,
} from '../../../server/domains/rundown/read-rundown.ts';
import { rundownProcedures } from '../../../server/domains/rundown/rundown-sql.ts';
import type { OwnStream } from '../../../server/domains/streams/streams-sql.ts';
import type { Tx } from '../../../server/storage/sql/procedure.ts';

/** All quizzes of a stream, in order. */
export const rundownOf = (store: RundownStore, own: OwnStream): Promise<Rundown<QuizRow>> =>
  readRundown(
    store,
    own,
    (work) => work(),
    (quiz) => quiz,
  );

/** What reads rundowns in this transaction. */
export const rundownStoreOf = (tx: Tx): RundownStore => ({
  readRundownOrder: (input) => rundownProcedures.readRundownOrder.run(tx, input),
  listQuizzes: (input) => rundownProcedures.listQuizzes.run(tx, input),
});
