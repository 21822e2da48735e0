import { useMemo, useState } from 'react';
import type { QuestionState, QueuedQuestion } from '../../../protocol/moderation.ts';
import { Select } from '../../ui/select.tsx';
import { Failure } from '../../ui/states.tsx';
import { type LineHands, Lines } from './lines.tsx';
import type { KeptList } from './use-chat-keeping.ts';

const STATES: readonly { readonly value: QuestionState; readonly text: string }[] = [
  { value: 'open', text: 'Open' },
  { value: 'answered', text: 'Answered' },
  { value: 'dismissed', text: 'Dismissed' },
];

const NOTHING: Readonly<Record<QuestionState, string>> = {
  open: 'Nothing is in the queue. Lines of the chat have a menu to put them here.',
  answered: 'No question is answered yet.',
  dismissed: 'No question was dismissed.',
};

interface QuestionQueueProps {
  /** In the order in which they were written. */
  readonly questions: KeptList<QueuedQuestion>;
  readonly hands: LineHands;
}

/** Questions that somebody chose to be answered: the oldest is next. */
export function QuestionQueue({ questions: { all, failure }, hands }: QuestionQueueProps) {
  const [state, setState] = useState<QuestionState>('open');
  const lines = useMemo(
    () => all.filter((question) => question.state === state).map(({ line }) => line),
    [all, state],
  );
  return (
    <div className="grid gap-1">
      <Select
        label="Which questions"
        isLabelUnseen
        value={state}
        options={STATES}
        onChange={setState}
      />
      <Lines
        label="Questions, oldest first"
        lines={lines}
        hands={hands}
        end={
          failure ? (
            <Failure {...failure} />
          ) : (
            lines.length === 0 && <p className="p-2 text-quiet">{NOTHING[state]}</p>
          )
        }
      />
    </div>
  );
}
