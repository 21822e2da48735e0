import { useMemo } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { AudienceBar } from './audience-bar.tsx';
import { ChatLog } from './chat-log.tsx';
import { ChatNews } from './chat-news.tsx';
import { Compose } from './compose.tsx';
import { Pinned } from './pinned-line.tsx';
import { useChatItems } from './use-chat-items.ts';
import { useModeration } from './use-moderation.ts';
import { useOwnLines } from './use-own-lines.ts';

/** How many are there, and what they say. It fills the place that it is given. */
export function Crowd({
  viewer,
  snapshot,
  hearts,
}: {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  readonly hearts: number;
}) {
  const { mode, pinned, hidden } = useModeration(viewer, snapshot);
  const hiddenIds = useMemo(() => new Set(hidden), [hidden]);
  const isShown = ({ id }: { readonly id: string }) => !hiddenIds.has(id);
  const items = useChatItems(viewer, snapshot);
  const { own, add } = useOwnLines(snapshot.lines);
  const isOver = snapshot.state === 'ended';
  return (
    <div className="crowd">
      <AudienceBar snapshot={snapshot} hearts={hearts} />
      {pinned && <Pinned key={pinned.id} line={pinned} />}
      <ChatLog
        items={items}
        isShown={isShown}
        own={own}
        emptyWords={
          isOver
            ? 'What was said comes as you watch.'
            : 'Nobody has written since you came. Say hello!'
        }
      />
      <ChatNews lines={snapshot.lines.filter(isShown)} />
      {isOver ? (
        <p className="crowd-over">The show is over. The chat is closed.</p>
      ) : (
        <Compose viewer={viewer} state={snapshot.state} mode={mode} onSaid={add} />
      )}
    </div>
  );
}
