import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { AudienceBar } from './audience-bar.tsx';
import { ChatLog } from './chat-log.tsx';
import { ChatNews } from './chat-news.tsx';
import { Compose } from './compose.tsx';
import { useChatItems } from './use-chat-items.ts';
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
  const items = useChatItems(viewer, snapshot);
  const { own, add } = useOwnLines(snapshot.lines);
  const isOver = snapshot.state === 'ended';
  return (
    <div className="crowd">
      <AudienceBar snapshot={snapshot} hearts={hearts} />
      <ChatLog
        items={items}
        own={own}
        emptyWords={
          isOver
            ? 'What was said comes as you watch.'
            : 'Nobody has written since you came. Say hello!'
        }
      />
      <ChatNews lines={snapshot.lines} />
      {isOver ? (
        <p className="crowd-over">The show is over. The chat is closed.</p>
      ) : (
        <Compose viewer={viewer} state={snapshot.state} onSaid={add} />
      )}
    </div>
  );
}
