import { CHAT_RECENT, HISTORY_INTERVALS } from '../../../protocol/limits.ts';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import { readSealedBackward } from '../../realtime/feed/sealed-pages.ts';
import { readProcedure } from '../../storage/sql/procedure.ts';
import { hiddenIdsAmong, messagesIn } from '../moderation/sent-message-sql.ts';

/** Messages that are kept of a chat: more than are sent, because moderators hide some. */
export const KEPT_MESSAGES = 2 * CHAT_RECENT;

// What is examined at most: about ten minutes of a busy chat, hours of a quiet one.
const LIMITS = { intervalsMax: HISTORY_INTERVALS, bytesMax: 4 * 1024 * 1024 };
// Matches bodies with messages, as `composeInterval` writes them. Some custom events match as well.
const HAS_MESSAGES = `body like '%[{"id":%'`;

/** The newest messages that the feed carried, and which of them are hidden. */
export interface RecentMessagesRow {
  /** Oldest first, at most `KEPT_MESSAGES`. */
  readonly messages: readonly StoredChatMessage[];
  readonly hidden: readonly string[];
}

export const recentMessageProcedures = {
  /** @param to the newest interval that counts */
  readRecentMessages: readProcedure(
    async (tx, { streamId, to }: { streamId: string; to: number }): Promise<RecentMessagesRow> => {
      const { results } = await readSealedBackward(tx, {
        ...LIMITS,
        streamId,
        before: to + 1,
        limit: KEPT_MESSAGES,
        condition: HAS_MESSAGES,
        itemsOf: messagesIn,
      });
      const messages = results
        .slice(0, KEPT_MESSAGES)
        .reverse()
        .map(({ interval: _, ...message }) => message);
      const ids = messages.map(({ id }) => id);
      return { messages, hidden: [...(await hiddenIdsAmong(tx, streamId, ids))] };
    },
  ),
};
