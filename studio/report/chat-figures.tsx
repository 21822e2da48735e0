import type { ReadyReport } from '../../protocol/report.ts';
import { Panel } from '../ui/panel.tsx';
import { texts } from './texts.ts';

/** Counts of chat messages by kind, hearts and discounts. */
export function ChatFigures({ chat }: Pick<ReadyReport, 'chat'>) {
  const { lines, hearts, discounts } = chat;
  const rows = [
    [texts.chat.message, lines.message],
    [texts.chat.question, lines.question],
    [texts.chat.greeting, lines.greeting],
    [texts.chat.cheer, lines.cheer],
    [texts.chat.hearts, hearts],
    [texts.chat.purchase, lines.purchase],
    [texts.chat.discounts, discounts],
  ] as const;
  return (
    <Panel title={texts.chat.title}>
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
