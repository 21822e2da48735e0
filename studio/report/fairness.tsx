import type { ReadyReport } from '../../protocol/report.ts';
import { Panel } from '../ui/panel.tsx';
import { fairnessSentences } from './fairness-sentences.ts';

/** Whether everybody had the same chance, in plain words. */
export function Fairness({ report }: { readonly report: ReadyReport }) {
  return (
    <Panel title="Fairness">
      <div className="grid gap-2">
        {fairnessSentences(report).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
    </Panel>
  );
}
