import { useMemo } from 'react';
import type { LiveState } from '../../protocol/live.ts';
import { Panel } from '../ui/panel.tsx';
import { AudienceChart } from './audience-chart.tsx';
import type { CountAt, ShowLog } from './show-log.ts';
import { StagePanel } from './stage-panel.tsx';
import { texts } from './texts.ts';
import { useEarlierCounts } from './use-history.ts';

interface CountPanelProps {
  readonly state: LiveState;
  /** Whether the connection is up; else the audience is unknown. */
  readonly isConnected: boolean;
  readonly log: ShowLog;
}

/** The current audience and its peak. */
export function CountPanel({ state, isConnected, log }: CountPanelProps) {
  const { stream, count } = state;
  const peak = useCounts(stream.id, log).reduce((most, at) => Math.max(most, at.count), 0);
  const isKnown = isConnected && count !== null;
  return (
    <StagePanel title={texts.audience.title} place="count" header="never">
      <p className="flex min-h-0 flex-1 flex-col justify-center gap-x-3 lg:flex-row lg:items-center lg:justify-start">
        <span className="text-3xl/tight font-bold tabular-nums lg:text-4xl/none">
          {isKnown ? count.toLocaleString() : texts.audience.unknown}
        </span>
        <span className="grid text-sm leading-snug text-quiet">
          <span>{texts.audience.watching(stream.rehearsalOf !== null)}</span>
          <span className="tabular-nums">{texts.audience.peak(peak)}</span>
        </span>
      </p>
    </StagePanel>
  );
}

/** The recent history of the audience. */
export function AudiencePanel({ streamId, log }: { streamId: string; log: ShowLog }) {
  return (
    <Panel title={texts.audience.chartTitle}>
      <AudienceChart counts={useCounts(streamId, log)} />
    </Panel>
  );
}

function useCounts(streamId: string, log: ShowLog): readonly CountAt[] {
  const earlier = useEarlierCounts(streamId, log.firstInterval);
  return useMemo(() => [...earlier, ...log.counts], [earlier, log.counts]);
}
