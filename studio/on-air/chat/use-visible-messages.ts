import { useCallback, useMemo, useState } from 'react';
import type { MessageKind } from '../../../protocol/limits.ts';
import type { ShowLog } from '../show-log.ts';
import { useEarlierMessages } from '../use-history.ts';
import type { ListedMessage } from './message-feed.tsx';

interface MessageRange {
  /** Newest first. */
  readonly messages: readonly ListedMessage[];
  /** The first interval of `messages`; history ends before it. null: no interval received yet. */
  readonly before: number | null;
}

/**
 * The messages of a show, newest first: those received live, then as much history as the user
 * scrolled to. While `isHeld`, new messages wait.
 * @param kind only this kind; null: all
 * @param isHeld whether the user is interacting with the list
 */
export function useVisibleMessages(
  streamId: string,
  log: ShowLog,
  kind: MessageKind | null,
  isHeld: boolean,
) {
  const { messages: all, messagesFrom } = log;
  const live = useMemo(
    (): MessageRange => ({
      messages: all.filter((message) => kind === null || message.kind === kind).toReversed(),
      before: messagesFrom,
    }),
    [all, messagesFrom, kind],
  );
  const [held, setHeld] = useState<MessageRange | null>(null);
  if (isHeld !== (held !== null)) setHeld(isHeld ? live : null);
  const visible = held ?? live;
  // History is loaded when the user reaches the end, and belongs to that end only.
  const [historyBefore, setHistoryBefore] = useState<number | null>(null);
  const earlier = useEarlierMessages(
    streamId,
    historyBefore === visible.before ? historyBefore : null,
    kind,
  );
  const { hasMore, isFetching, isError, fetchMore } = earlier;
  const onNearEnd = useCallback(() => {
    setHistoryBefore(visible.before);
    if (hasMore && !isFetching && !isError) fetchMore();
  }, [visible.before, hasMore, isFetching, isError, fetchMore]);
  return {
    messages: useMemo(
      (): readonly ListedMessage[] => [...visible.messages, ...earlier.messages],
      [visible.messages, earlier.messages],
    ),
    earlier,
    onNearEnd,
    /** Shows the messages that waited during the hold. */
    catchUp: () => held && setHeld(live),
    /** Number of messages that wait. */
    newCount: held ? countNewer(live.messages, held.messages[0]) : 0,
  };
}

function countNewer(messages: readonly ListedMessage[], newest: ListedMessage | undefined): number {
  const newestIndex = messages.findIndex(({ id }) => id === newest?.id);
  return newestIndex === -1 ? messages.length : newestIndex;
}
