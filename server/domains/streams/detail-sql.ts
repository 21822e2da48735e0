import type { ViewersChat } from '../../../protocol/moderation.ts';
import { reading } from '../../storage/sql/procedure.ts';
import { viewersChat } from '../moderation/chat-rooms-sql.ts';
import { openQuizInterval } from '../quizzes/quizzes-sql.ts';
import { type StreamRow, streamProcedures } from './streams-sql.ts';

/** What a viewer is told of a stream. */
export interface StreamDetailRow {
  readonly stream: StreamRow;
  /** The interval of the feed with the quiz that is open (S-17). */
  readonly quizInterval: number | null;
  readonly chat: ViewersChat;
}

export const detailProcedures = {
  /** @param interval the current one; null when there is no such stream */
  readStreamDetail: reading(
    async (
      tx,
      { id, interval }: { id: string; interval: number },
    ): Promise<StreamDetailRow | null> => {
      const stream = await streamProcedures.findStream.run(tx, { id });
      if (!stream) return null;
      const quizInterval = await openQuizInterval(tx, id, interval);
      return { stream, quizInterval, chat: await viewersChat(tx, id) };
    },
  ),
};
