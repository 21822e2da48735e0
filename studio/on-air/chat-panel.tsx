import { useState } from 'react';
import {
  ListBox,
  ListBoxItem,
  ListLayout,
  Tab,
  TabList,
  TabPanel,
  Tabs,
  Virtualizer,
} from 'react-aria-components';
import type { ChatLine } from '../../protocol/history.ts';
import { Badge } from '../ui/badge.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import type { ShowRecord } from './show-record.ts';

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
        <span className="text-sm text-quiet tabular-nums">
          {record.hearts.toLocaleString()} hearts · {record.discounts.toLocaleString()} discounts
        </span>
      }
    >
      <Tabs selectedKey={view} onSelectionChange={(key) => setView(key as View)}>
        <TabList aria-label="Which lines" className="flex gap-1 border-b border-line">
          {VIEWS.map(({ id, text }) => (
            <Tab
              key={id}
              id={id}
              className={classes(
                'min-h-11 cursor-pointer content-center border-b-3 border-transparent px-3 font-semibold text-quiet',
                'selected:border-accent selected:text-accent',
                FOCUS_RING,
              )}
            >
              {text}
            </Tab>
          ))}
        </TabList>
        <TabPanel key={view} id={view} className="pt-3 outline-none">
          {lines.length === 0 ? (
            <p className="text-quiet">
              {view === 'question' ? 'Nobody has asked anything yet.' : 'Nobody has written yet.'}
            </p>
          ) : (
            <Lines lines={lines} />
          )}
        </TabPanel>
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
