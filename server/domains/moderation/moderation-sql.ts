import { MODERATED_MAX } from '../../../protocol/limits.ts';
import type { ChatMode, ChatModePatch, KeptLine } from '../../../protocol/moderation.ts';
import { Refusal } from '../../platform/errors.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { type Tx, writing } from '../../storage/sql/procedure.ts';
import { lockOwnStream } from '../streams/streams-sql.ts';
import { chatRoom, nodesReadAgain, pagesReadAgain, saveChatState } from './chat-rooms-sql.ts';
import { hiddenAmong, sentLine } from './sent-message-sql.ts';

export interface OwnStream {
  readonly streamId: string;
  readonly producer: string;
}

export const moderationProcedures = {
  /** Slows the chat down, or pauses it; viewers are told of what changes. */
  changeChatMode: writing(
    async (tx, input: OwnStream & { patch: ChatModePatch }): Promise<ChatMode> => {
      const { streamId, producer, patch } = input;
      await lockOwnStream(tx, streamId, producer);
      const { slowModeMs, paused, pinned } = await chatRoom(tx, streamId);
      const mode = { slowModeMs: patch.slowModeMs ?? slowModeMs, paused: patch.paused ?? paused };
      if (mode.slowModeMs !== slowModeMs || mode.paused !== paused) {
        await saveChatState(tx, streamId, { ...mode, pinned });
        await recordEvent(tx, streamId, 'chat-mode', mode);
        await nodesReadAgain(tx, streamId);
      }
      return mode;
    },
  ),

  /**
   * Takes lines out of the chat, the pinned one among them; viewers are told of those that were there.
   * @throws Refusal `conflict` when there would be too many
   */
  hideLines: writing(
    async (tx, input: OwnStream & { ids: readonly string[] }): Promise<{ ids: string[] }> => {
      const { streamId, producer, ids } = input;
      await lockOwnStream(tx, streamId, producer);
      const hidden = await hiddenAmong(tx, streamId, ids);
      const shown = ids.filter((id) => !hidden.has(id));
      if (shown.length > 0) {
        await hide(tx, streamId, shown);
        const { pinned } = await chatRoom(tx, streamId);
        if (pinned && shown.includes(pinned.id)) await pin(tx, streamId, null);
        await pagesReadAgain(tx, streamId);
      }
      return { ids: [...ids] };
    },
  ),

  /**
   * Shows a line above the chat, or none; viewers are told when it is another.
   * @throws Refusal `not-found` when no such line was sent, `conflict` when it is hidden
   */
  pinLine: writing(
    async (
      tx,
      input: OwnStream & { line: Pick<KeptLine, 'id' | 'at'> | null },
    ): Promise<{ line: KeptLine | null }> => {
      const { streamId, producer } = input;
      await lockOwnStream(tx, streamId, producer);
      const line = input.line && (await sentLine(tx, streamId, input.line));
      if (line && (await hiddenAmong(tx, streamId, [line.id])).size > 0) {
        throw new Refusal('conflict', 'The line is hidden; pin one that viewers see.');
      }
      const { pinned } = await chatRoom(tx, streamId);
      if (pinned?.id !== line?.id) await pin(tx, streamId, line);
      return { line };
    },
  ),
};

/** Hides lines that are not hidden yet. They are numbered by the stream, since none is ever taken back. */
async function hide(tx: Tx, streamId: string, ids: readonly string[]): Promise<void> {
  const [counted] = await tx.query<{ n: number }>(
    'select count(*) as n from hidden_lines where stream_id = $1',
    [streamId],
  );
  const before = Number(counted?.n);
  if (before + ids.length > MODERATED_MAX) {
    throw new Refusal('conflict', `A stream has at most ${MODERATED_MAX} hidden lines.`);
  }
  await tx.query(
    `insert into hidden_lines (stream_id, line, number)
     select $2, line, number from ${tx.rows('$1', ['line text', 'number integer'])} hidden`,
    [JSON.stringify(ids.map((id, index) => [id, before + index + 1])), streamId],
  );
  await recordEvent(tx, streamId, 'chat-hidden', { ids });
}

async function pin(tx: Tx, streamId: string, line: KeptLine | null): Promise<void> {
  const room = await chatRoom(tx, streamId);
  await saveChatState(tx, streamId, { ...room, pinned: line });
  await recordEvent(tx, streamId, 'chat-pinned', { line });
}
