import { Heart } from 'lucide-react';
import { useState } from 'react';
import type { LiveState } from '../../../protocol/live.ts';
import { Panel } from '../../ui/panel.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { heartsAMinute, type ShowRecord } from '../show-record.ts';
import { ChatControls } from './chat-controls.tsx';
import { LineList } from './line-list.tsx';
import { PinnedLine } from './pinned-line.tsx';
import { QuestionQueue } from './question-queue.tsx';
import { RestrictedDialog } from './restricted-dialog.tsx';
import { useChatKeeping } from './use-chat-keeping.ts';
import { useDeeds } from './use-deeds.tsx';
import { useModeration } from './use-moderation.ts';

type View = 'all' | 'question' | 'queue';

interface ChatPanelProps {
  readonly state: LiveState;
  readonly record: ShowRecord;
}

const heartWords = (count: number) =>
  `${count.toLocaleString()} ${count === 1 ? 'heart' : 'hearts'}`;

/** What viewers say, and what is done about it. */
export function ChatPanel({ state, record }: ChatPanelProps) {
  const { stream, chat } = state;
  const [view, setView] = useState<View>('all');
  const { moderation, hidden } = useModeration(stream.id);
  const { restricted, questions, pinnedId, factsOf } = useChatKeeping(state, hidden, record.hidden);
  const { onDeed, dialog } = useDeeds(moderation, pinnedId);
  const hands = { onDeed, factsOf };
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
          <Heart className="size-4 text-heart" aria-hidden="true" />
          {heartWords(Math.round(heartsAMinute(record)))} a minute
        </span>
      }
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <ChatControls streamId={stream.id} mode={chat} />
        <RestrictedDialog viewers={restricted} moderation={moderation} />
      </div>
      {chat.pinned && <PinnedLine line={chat.pinned} onUnpin={() => moderation.pin(null)} />}
      <Tabs label="Which lines" tabs={tabs} selected={view} onSelect={setView}>
        {view === 'queue' ? (
          <QuestionQueue questions={questions} hands={hands} />
        ) : (
          <LineList
            streamId={stream.id}
            record={record}
            kind={view === 'question' ? 'question' : null}
            hands={hands}
            nothing={
              view === 'question' ? 'Nobody has asked anything yet.' : 'Nobody has written yet.'
            }
          />
        )}
      </Tabs>
      {dialog}
    </Panel>
  );
}
