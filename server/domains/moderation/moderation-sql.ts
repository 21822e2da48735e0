import { MODERATED_MAX } from '../../../protocol/limits.ts';
import type { ChatMode, ChatModePatch, StoredChatMessage } from '../../../protocol/moderation.ts';
import { DomainError } from '../../platform/errors.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { lockOwnStream, type OwnStream } from '../streams/streams-sql.ts';
import { incrementRevision, readChatState, recordChange, saveChatState } from './chat-state-sql.ts';
import { hiddenIdsAmong, messageNotSent } from './sent-message-sql.ts';

interface MessageToPin {
  /** null: remove the pin. */
  readonly id: string | null;
  /** The message as it was sent; null when no such message was found. */
  readonly message: StoredChatMessage | null;
}

export const moderationProcedures = {
  /** Sets slow mode and pause, and sends viewers an event if they change. */
  changeChatMode: writeProcedure(
    async (tx, input: OwnStream & { patch: ChatModePatch }): Promise<ChatMode> => {
      const { streamId, producer, patch } = input;
      await lockOwnStream(tx, streamId, producer);
      const { slowModeMs, paused, pinned } = await readChatState(tx, streamId);
      const mode = { slowModeMs: patch.slowModeMs ?? slowModeMs, paused: patch.paused ?? paused };
      if (mode.slowModeMs !== slowModeMs || mode.paused !== paused) {
        await saveChatState(tx, streamId, { ...mode, pinned });
        await recordEvent(tx, streamId, 'chat-mode', mode);
        await recordChange(tx, streamId);
      }
      return mode;
    },
  ),

  /**
   * Hides messages, and unpins the pinned one if it is among them. Viewers get an event with those that
   * were visible.
   * @throws DomainError `conflict` when the stream would have too many hidden messages
   */
  hideMessages: writeProcedure(
    async (tx, input: OwnStream & { ids: readonly string[] }): Promise<{ ids: string[] }> => {
      const { streamId, producer, ids } = input;
      await lockOwnStream(tx, streamId, producer);
      const hidden = await hiddenIdsAmong(tx, streamId, ids);
      const visible = ids.filter((id) => !hidden.has(id));
      if (visible.length > 0) {
        await insertHidden(tx, streamId, visible);
        const { pinned } = await readChatState(tx, streamId);
        if (pinned && visible.includes(pinned.id)) await setPinned(tx, streamId, null);
        await incrementRevision(tx, streamId);
      }
      return { ids: [...ids] };
    },
  ),

  /**
   * Pins a message above the chat, or removes the pin; viewers get an event if it changes.
   * @throws DomainError `not-found` when no such message was sent, `conflict` when it is hidden
   */
  pinMessage: writeProcedure(
    async (tx, { streamId, producer, id, message }: OwnStream & MessageToPin) => {
      await lockOwnStream(tx, streamId, producer);
      if (id !== null && !message) throw messageNotSent();
      if (message && (await hiddenIdsAmong(tx, streamId, [message.id])).size > 0) {
        throw new DomainError('conflict', 'The message is hidden; pin one that viewers see.');
      }
      const { pinned } = await readChatState(tx, streamId);
      if (pinned?.id !== message?.id) await setPinned(tx, streamId, message);
      return { line: message };
    },
  ),
};

/** Hides visible messages. Numbers count up within the stream, which works because hiding is permanent. */
async function insertHidden(tx: Tx, streamId: string, ids: readonly string[]): Promise<void> {
  const [row] = await tx.query<{ hidden: number }>(
    'select coalesce(max(number), 0) as hidden from hidden_lines where stream_id = $1',
    [streamId],
  );
  const before = Number(row?.hidden);
  if (before + ids.length > MODERATED_MAX) {
    throw new DomainError('conflict', `A stream has at most ${MODERATED_MAX} hidden messages.`);
  }
  await tx.query(
    `insert into hidden_lines (stream_id, line, number)
     select $2, line, number from ${tx.rows('$1', ['line text', 'number integer'])} hidden`,
    [JSON.stringify(ids.map((id, index) => [id, before + index + 1])), streamId],
  );
  await recordEvent(tx, streamId, 'chat-hidden', { ids });
}

async function setPinned(
  tx: Tx,
  streamId: string,
  message: StoredChatMessage | null,
): Promise<void> {
  const state = await readChatState(tx, streamId);
  await saveChatState(tx, streamId, { ...state, pinned: message });
  await recordEvent(tx, streamId, 'chat-pinned', { line: message });
}
