import { useMemo } from 'react';
import { Panel } from '../ui/panel.tsx';
import { AudienceChart } from './audience-chart.tsx';
import type { ShowRecord } from './show-record.ts';
import { useEarlierCounts } from './use-history.ts';

interface AudiencePanelProps {
  readonly streamId: string;
  /** Viewers now; null: not known. */
  readonly count: number | null;
  readonly record: ShowRecord;
}

/** How many are there, and how that went in the last minutes. */
export function AudiencePanel({ streamId, count, record }: AudiencePanelProps) {
  const earlier = useEarlierCounts(streamId, record.first);
  const counts = useMemo(() => [...earlier, ...record.counts], [earlier, record.counts]);
  const peak = counts.reduce((most, at) => Math.max(most, at.count), 0);
  return (
    <Panel title="Audience">
      <p className="flex items-baseline gap-3">
        <span className="text-4xl font-bold tabular-nums">{count?.toLocaleString() ?? '–'}</span>
        <span className="text-quiet">watching, at most {peak.toLocaleString()}</span>
      </p>
      <AudienceChart counts={counts} />
    </Panel>
  );
}
