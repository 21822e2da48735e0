import type { WinnersRound } from '../../../protocol/studio.ts';
import { readSourceState, type SourceState } from '../../media/ingest/ingest-sql.ts';
import { readProcedure } from '../../storage/sql/procedure.ts';
import { type RevisedChatState, readChatState } from '../moderation/chat-state-sql.ts';
import { isRoundOnScreen } from '../quizzes/quiz-rules.ts';
import { countAnswers, latestPublished, type QuizRow } from '../quizzes/quizzes-sql.ts';
import { type NamedSeat, readRoundWinners } from '../quizzes/round-winners-sql.ts';
import { latestRound } from '../quizzes/winners-sql.ts';
import { type OwnId, ownStream, type StreamRow } from '../streams/streams-sql.ts';

export interface LiveShow extends SourceState {
  readonly stream: StreamRow;
  /** The latest published quiz. */
  readonly quiz: QuizRow | null;
  /** The number of answers to `quiz` so far by choice; null unless `quiz` is open. */
  readonly answerCounts: readonly number[] | null;
  readonly round: WinnersRound | null;
  /** The first winners of `round`; empty until it is closed, and once a newer quiz is published. */
  readonly winners: readonly NamedSeat[];
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
      const hasWinners = round?.state === 'closed' && isRoundOnScreen(round, quiz);
      const winners = hasWinners ? await readRoundWinners(tx, round, nowMs) : [];
      const source = await readSourceState(tx, id, nowMs);
      const chat = await readChatState(tx, id);
      return { stream, quiz, answerCounts, round, winners, ...source, chat };
    },
  ),
};
