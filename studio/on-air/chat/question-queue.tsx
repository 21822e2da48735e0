import { useMemo, useState } from 'react';
import type { QuestionState, QueuedQuestion } from '../../../protocol/moderation.ts';
import { Select } from '../../ui/select.tsx';
import { ErrorMessage } from '../../ui/states.tsx';
import { MessageFeed, type MessageHandlers } from './message-feed.tsx';
import { texts } from './texts.ts';
import type { LoadedList } from './use-chat-state.ts';

const STATE_OPTIONS: readonly { readonly value: QuestionState; readonly text: string }[] = [
  { value: 'open', text: texts.queue.states.open },
  { value: 'answered', text: texts.queue.states.answered },
  { value: 'dismissed', text: texts.queue.states.dismissed },
];

interface QuestionQueueProps {
  /** Oldest first. */
  readonly questions: LoadedList<QueuedQuestion>;
  readonly handlers: MessageHandlers;
}

/** The questions that hosts queued, oldest first. */
export function QuestionQueue({ questions: { all, loadError }, handlers }: QuestionQueueProps) {
  const [state, setState] = useState<QuestionState>('open');
  const messages = useMemo(
    () => all.filter((question) => question.state === state).map(({ line }) => line),
    [all, state],
  );
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-1">
      <Select
        label={texts.queue.state}
        isLabelHidden
        value={state}
        options={STATE_OPTIONS}
        onChange={setState}
      />
      <MessageFeed
        label={texts.queue.label}
        messages={messages}
        handlers={handlers}
        end={
          loadError ? (
            <ErrorMessage {...loadError} />
          ) : (
            messages.length === 0 && <p className="p-2 text-quiet">{texts.queue.empty[state]}</p>
          )
        }
      />
    </div>
  );
}
