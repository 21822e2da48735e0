import { intervalStartMs } from '../../../protocol/interval.ts';
import type { ViewerChat } from '../../../protocol/moderation.ts';
import type { ShownProduct } from '../../../protocol/products.ts';
import { readProcedure } from '../../storage/sql/procedure.ts';
import { recentMessageProcedures } from '../chat/recent-messages-sql.ts';
import { viewersChat } from '../moderation/chat-state-sql.ts';
import { readShownProduct } from '../products/products-sql.ts';
import { openQuizInterval } from '../quizzes/quizzes-sql.ts';
import { archivedEndMs } from './stream-rules.ts';
import { type StreamRow, streamProcedures } from './streams-sql.ts';

/** The stream detail that viewers get. */
export interface StreamDetailRow {
  readonly stream: StreamRow;
  /** The interval of the feed with the event of the open quiz; null when none is open (S-17). */
  readonly quizInterval: number | null;
  /** The product that viewers see; null: none. */
  readonly product: ShownProduct | null;
  readonly chat: Omit<ViewerChat, 'recent'>;
}

export const detailProcedures = {
  ...recentMessageProcedures,

  /** Null when there is no such stream. @param interval the current interval */
  readStreamDetail: readProcedure(
    async (
      tx,
      { id, interval }: { id: string; interval: number },
    ): Promise<StreamDetailRow | null> => {
      const stream = await streamProcedures.findStream.run(tx, { id });
      if (!stream) return null;
      const quizInterval = await openQuizInterval(tx, id, interval);
      const product = await readShownProduct(tx, id);
      const chat = await viewersChat(tx, id);
      const isArchived =
        stream.ended !== null && stream.ended <= archivedEndMs(intervalStartMs(interval));
      const paused = chat.paused || isArchived;
      return { stream, quizInterval, product, chat: { ...chat, paused } };
    },
  ),
};
