import { type ReactNode, useMemo } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { texts } from '../texts.ts';
import { AudienceBar } from './audience-bar.tsx';
import { ChatAnnouncer } from './chat-announcer.tsx';
import { ChatLog } from './chat-log.tsx';
import { Compose } from './compose.tsx';
import { PinnedBanner } from './pinned-message.tsx';
import { useChatItems } from './use-chat-items.ts';
import { useModeration } from './use-moderation.ts';
import { usePendingMessages } from './use-pending-messages.ts';

interface AudiencePanelProps {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  readonly hearts: number;
  /** Shown above the chat; null: nothing. */
  readonly children: ReactNode;
}

/** The viewer count and the chat. It fills its container. */
export function AudiencePanel({ viewer, snapshot, hearts, children }: AudiencePanelProps) {
  const { mode, pinned, hidden } = useModeration(viewer, snapshot);
  const hiddenIds = useMemo(() => new Set(hidden), [hidden]);
  const isVisible = ({ id }: { readonly id: string }) => !hiddenIds.has(id);
  const items = useChatItems(viewer, snapshot);
  const { pending, add } = usePendingMessages(snapshot.messages);
  const isOver = snapshot.state === 'ended' || snapshot.stream?.status === 'ENDED';
  return (
    <div className="audience-panel">
      <AudienceBar snapshot={snapshot} hearts={hearts} />
      {children}
      {pinned && <PinnedBanner key={pinned.id} message={pinned} />}
      <ChatLog
        items={items}
        isVisible={isVisible}
        pending={pending}
        emptyText={isOver ? texts.chat.emptyReplay : texts.chat.empty}
      />
      <ChatAnnouncer
        messages={snapshot.messages.filter(isVisible)}
        earlier={snapshot.stream?.chat?.recent ?? []}
      />
      {isOver ? (
        <p className="audience-over">{texts.chat.over}</p>
      ) : (
        <Compose viewer={viewer} state={snapshot.state} mode={mode} onSent={add} />
      )}
    </div>
  );
}
