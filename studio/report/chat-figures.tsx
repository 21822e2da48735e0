import type { ReadyReport } from '../../protocol/report.ts';
import { Panel } from '../ui/panel.tsx';

/** Counts of chat messages by kind, hearts and discounts. */
export function ChatFigures({ chat }: Pick<ReadyReport, 'chat'>) {
  const { lines, hearts, discounts } = chat;
  const rows = [
    ['Messages', lines.message],
    ['Questions', lines.question],
    ['Greetings', lines.greeting],
    ['Cheers', lines.cheer],
    ['Hearts', hearts],
    ['Purchases', lines.purchase],
    ['Discounts', discounts],
  ] as const;
  return (
    <Panel title="Chat">
      <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1">
        {rows.map(([name, count]) => (
          <div key={name} className="contents">
            <dt className="text-quiet">{name}</dt>
            <dd className="text-right tabular-nums">{count.toLocaleString()}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
