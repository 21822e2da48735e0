import { useRef } from 'react';
import type { PressEvent } from 'react-aria-components';
import { flushSync } from 'react-dom';
import type { MessageKind } from '../../../protocol/limits.ts';
import { Button } from '../../ui/button.tsx';
import { useInteractionHold } from '../../ui/use-interaction-hold.ts';
import type { ShowLog } from '../show-log.ts';
import type { useEarlierMessages } from '../use-history.ts';
import { MessageFeed, type MessageHandlers } from './message-feed.tsx';
import { texts } from './texts.ts';
import { useVisibleMessages } from './use-visible-messages.ts';

interface MessageListProps {
  readonly streamId: string;
  readonly log: ShowLog;
  /** Only messages of this kind; null: all. */
  readonly kind: MessageKind | null;
  readonly handlers: MessageHandlers;
  /** Shown when there are no messages. */
  readonly emptyText: string;
}

/** The chat, newest message first, with older messages loaded on scroll. */
export function MessageList({ streamId, log, kind, handlers, emptyText }: MessageListProps) {
  const feed = useRef<HTMLDivElement>(null);
  const { isHeld, release, listeners } = useInteractionHold();
  const visible = useVisibleMessages(streamId, log, kind, isHeld);
  const { messages, earlier, onNearEnd, newCount, catchUp } = visible;
  const showNewest = ({ pointerType }: PressEvent) => {
    flushSync(() => {
      release();
      catchUp();
    });
    feed.current?.scrollTo({ top: 0 });
    // Keyboard users continue at the newest message.
    if (pointerType === 'keyboard') feed.current?.querySelector('article')?.focus();
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col" {...listeners}>
      {newCount > 0 && (
        // Over the messages, which must not move.
        <div className="pointer-events-none absolute inset-x-0 top-2 z-10 flex justify-center *:pointer-events-auto *:shadow-lg">
          <Button onPress={showNewest}>{texts.messages.new(newCount)}</Button>
        </div>
      )}
      <MessageFeed
        containerRef={feed}
        label={texts.messages.label}
        messages={messages}
        handlers={handlers}
        hasMore={earlier.hasMore}
        onNearEnd={onNearEnd}
        end={<FeedEnd earlier={earlier} emptyText={messages.length === 0 ? emptyText : null} />}
      />
    </div>
  );
}

interface FeedEndProps {
  readonly earlier: ReturnType<typeof useEarlierMessages>;
  /** Shown when there is no message at all; null: there are some. */
  readonly emptyText: string | null;
}

function FeedEnd({ earlier, emptyText }: FeedEndProps) {
  const { hasMore, isFetching, isError, fetchMore } = earlier;
  if (isError && !isFetching) {
    return (
      <p className="flex flex-wrap items-center gap-3 p-2 text-quiet">
        {texts.messages.earlierFailed}
        <Button onPress={fetchMore}>{texts.messages.tryAgain}</Button>
      </p>
    );
  }
  if (isFetching || hasMore)
    return <p className="p-2 text-quiet">{texts.messages.loadingEarlier}</p>;
  return emptyText && <p className="p-2 text-quiet">{emptyText}</p>;
}
