import type { WinnersRound } from '../../../protocol/studio.ts';
import { readSourceState, type SourceState } from '../../media/ingest/ingest-sql.ts';
import { readProcedure } from '../../storage/sql/procedure.ts';
import { type RevisedChatState, readChatState } from '../moderation/chat-state-sql.ts';
import { countAnswers, latestPublished, type QuizRow } from '../quizzes/quizzes-sql.ts';
import { latestRound } from '../quizzes/winners-sql.ts';
import { type OwnId, ownStream, type StreamRow } from '../streams/streams-sql.ts';

export interface LiveShow extends SourceState {
  readonly stream: StreamRow;
  /** The latest published quiz. */
  readonly quiz: QuizRow | null;
  /** The number of answers to `quiz` so far by choice; null unless `quiz` is open. */
  readonly answerCounts: readonly number[] | null;
  readonly round: WinnersRound | null;
  readonly chat: RevisedChatState;
}

export const liveProcedures = {
  /** @throws DomainError `not-found` */
  readLiveShow: readProcedure(
    async (tx, { id, producer, nowMs }: OwnId & { nowMs: number }): Promise<LiveShow> => {
      const stream = await ownStream(tx, id, producer);
      const quiz = await latestPublished(tx, id);
      const answerCounts = quiz?.state === 'open' ? await countAnswers(tx, quiz) : null;
      const round = await latestRound(tx, id);
      const source = await readSourceState(tx, id, nowMs);
      return { stream, quiz, answerCounts, round, ...source, chat: await readChatState(tx, id) };
    },
  ),
};
