import { useMemo } from 'react';
import { Panel } from '../ui/panel.tsx';
import { AudienceChart } from './audience-chart.tsx';
import type { ShowLog } from './show-log.ts';
import { useEarlierCounts } from './use-history.ts';

interface AudiencePanelProps {
  readonly streamId: string;
  /** Current audience; null: unknown. */
  readonly count: number | null;
  readonly log: ShowLog;
}

/** The current audience, its peak and its recent history. */
export function AudiencePanel({ streamId, count, log }: AudiencePanelProps) {
  const earlier = useEarlierCounts(streamId, log.firstInterval);
  const counts = useMemo(() => [...earlier, ...log.counts], [earlier, log.counts]);
  const peak = counts.reduce((most, at) => Math.max(most, at.count), 0);
  return (
    <Panel title="Audience">
      <p className="flex items-baseline gap-3">
        <span className="text-4xl font-bold tabular-nums">{count?.toLocaleString() ?? '–'}</span>
        <span className="text-quiet">watching · peak {peak.toLocaleString()}</span>
      </p>
      <AudienceChart counts={counts} />
    </Panel>
  );
}
