import { Heart } from 'lucide-react';
import { useState } from 'react';
import type { LiveState } from '../../../protocol/live.ts';
import { Panel } from '../../ui/panel.tsx';
import { quantity } from '../../ui/quantity.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { heartsPerMinute, type ShowLog } from '../show-log.ts';
import { ChatControls } from './chat-controls.tsx';
import { MessageList } from './message-list.tsx';
import { PinnedMessage } from './pinned-message.tsx';
import { QuestionQueue } from './question-queue.tsx';
import { RestrictedDialog } from './restricted-dialog.tsx';
import { useChatState } from './use-chat-state.ts';
import { useMessageActions } from './use-message-actions.tsx';
import { useModeration } from './use-moderation.ts';

type View = 'all' | 'question' | 'queue';

export function ChatPanel({ state, log }: { state: LiveState; log: ShowLog }) {
  const { stream, chat } = state;
  const [view, setView] = useState<View>('all');
  const { moderation, hidden, hiding } = useModeration(stream.id, log);
  const { restricted, questions, pinnedId, statusOf } = useChatState(state, {
    hidden,
    hiding,
    hiddenMeanwhile: log.hidden,
  });
  const { onAction, dialog } = useMessageActions(moderation, pinnedId);
  const handlers = { onAction, statusOf };
  const open = questions.all.filter((question) => question.state === 'open').length;
  const tabs = [
    { id: 'all', text: 'All' },
    { id: 'question', text: 'Questions' },
    { id: 'queue', text: open === 0 ? 'Queue' : `Queue (${open})` },
  ] as const;
  return (
    <Panel
      title="Chat"
      aside={
        <span className="flex items-center gap-1.5 text-sm text-quiet tabular-nums">
          <Heart className="size-4 text-heart" />
          {quantity(Math.round(heartsPerMinute(log)), 'heart')} per minute
        </span>
      }
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <ChatControls streamId={stream.id} mode={chat} />
        <RestrictedDialog viewers={restricted} moderation={moderation} />
      </div>
      {chat.pinned && <PinnedMessage message={chat.pinned} onUnpin={() => moderation.pin(null)} />}
      <Tabs label="Messages" tabs={tabs} selected={view} onSelect={setView}>
        {view === 'queue' ? (
          <QuestionQueue questions={questions} handlers={handlers} />
        ) : (
          <MessageList
            streamId={stream.id}
            log={log}
            kind={view === 'question' ? 'question' : null}
            handlers={handlers}
            emptyText={view === 'question' ? 'No questions yet.' : 'No messages yet.'}
          />
        )}
      </Tabs>
      {dialog}
    </Panel>
  );
}
