import { Heart } from 'lucide-react';
import { useState } from 'react';
import type { LiveState } from '../../../protocol/live.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { heartsPerMinute, type ShowLog } from '../show-log.ts';
import { StagePanel } from '../stage-panel.tsx';
import { ChatSettings, PauseSwitch, useChatMode } from './chat-settings.tsx';
import { MessageList } from './message-list.tsx';
import { PinnedMessage } from './pinned-message.tsx';
import { QuestionQueue } from './question-queue.tsx';
import { texts } from './texts.ts';
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
  const chatMode = useChatMode(stream.id, chat);
  const { onAction, dialog } = useMessageActions(moderation, pinnedId);
  const handlers = { onAction, statusOf };
  const open = questions.all.filter((question) => question.state === 'open').length;
  const tabs = [
    { id: 'all', text: texts.views.all },
    { id: 'question', text: texts.views.questions },
    { id: 'queue', text: open === 0 ? texts.views.queue : texts.views.queueWithOpen(open) },
  ] as const;
  return (
    <StagePanel
      title={texts.title}
      place="chat"
      header="on wide screens"
      aside={
        <div className="flex flex-1 items-center justify-between gap-3">
          <Hearts log={log} />
          <PauseSwitch chatMode={chatMode} />
        </div>
      }
    >
      {chat.pinned && <PinnedMessage message={chat.pinned} onUnpin={() => moderation.pin(null)} />}
      <Tabs
        label={texts.views.label}
        tabs={tabs}
        selected={view}
        onSelect={setView}
        isFilling
        aside={<ChatSettings chatMode={chatMode} restricted={restricted} moderation={moderation} />}
      >
        {view === 'queue' ? (
          <QuestionQueue questions={questions} handlers={handlers} />
        ) : (
          <MessageList
            streamId={stream.id}
            log={log}
            kind={view === 'question' ? 'question' : null}
            handlers={handlers}
            emptyText={view === 'question' ? texts.messages.emptyQuestions : texts.messages.empty}
          />
        )}
      </Tabs>
      {dialog}
    </StagePanel>
  );
}

function Hearts({ log }: { readonly log: ShowLog }) {
  const hearts = Math.round(heartsPerMinute(log));
  return (
    <span className="flex items-center gap-1.5 text-sm text-quiet tabular-nums">
      <Heart className="size-4 text-heart" />
      <span className="sr-only">{texts.heartsPerMinute(hearts)}</span>
      <span aria-hidden="true">{texts.heartsShort(hearts)}</span>
    </span>
  );
}
