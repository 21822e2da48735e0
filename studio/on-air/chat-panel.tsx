import { Heart } from 'lucide-react';
import { useState } from 'react';
import { ListBox, ListBoxItem, ListLayout, Virtualizer } from 'react-aria-components';
import type { ChatLine } from '../../protocol/history.ts';
import { Badge } from '../ui/badge.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { heartsAMinute, type ShowRecord } from './show-record.ts';

type View = 'all' | 'question';

const VIEWS: readonly { readonly id: View; readonly text: string }[] = [
  { id: 'all', text: 'Everything' },
  { id: 'question', text: 'Questions' },
];

/** What viewers say: the newest first. */
export function ChatPanel({ record }: { readonly record: ShowRecord }) {
  const [view, setView] = useState<View>('all');
  const lines = record.lines.filter(({ kind }) => view === 'all' || kind === view).toReversed();
  return (
    <Panel
      title="Chat"
      aside={
        <span className="flex items-center gap-1.5 text-sm text-quiet tabular-nums">
          <Heart className="size-4 text-heart" aria-hidden="true" />
          {Math.round(heartsAMinute(record)).toLocaleString()} hearts a minute
        </span>
      }
    >
      <Tabs label="Which lines" tabs={VIEWS} selected={view} onSelect={setView}>
        {lines.length === 0 ? (
          <p className="text-quiet">
            {view === 'question' ? 'Nobody has asked anything yet.' : 'Nobody has written yet.'}
          </p>
        ) : (
          <Lines lines={lines} />
        )}
      </Tabs>
    </Panel>
  );
}

/** Only what is seen is in the page: a show has a hundred thousand lines. */
function Lines({ lines }: { readonly lines: readonly ChatLine[] }) {
  return (
    <Virtualizer layout={ListLayout} layoutOptions={{ estimatedRowHeight: 52, gap: 4 }}>
      <ListBox
        aria-label="Lines, newest first"
        items={lines}
        selectionMode="none"
        className={`h-[28rem] overflow-y-auto rounded-lg ${FOCUS_RING}`}
      >
        {(line: ChatLine) => (
          <ListBoxItem
            id={line.id}
            textValue={line.text}
            className={`grid gap-0.5 rounded-lg px-2 py-1 ${FOCUS_RING}`}
          >
            <span className="flex items-center gap-2 text-sm text-quiet">
              <span className="truncate font-semibold">{line.name || 'A viewer'}</span>
              {line.kind !== 'message' && (
                <Badge look={line.kind === 'question' ? 'accent' : 'plain'}>{line.kind}</Badge>
              )}
            </span>
            <span className="break-words">{line.text}</span>
          </ListBoxItem>
        )}
      </ListBox>
    </Virtualizer>
  );
}
