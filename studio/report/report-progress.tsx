import { TriangleAlert } from 'lucide-react';
import { Label, ProgressBar } from 'react-aria-components';
import type { Report } from '../../protocol/report.ts';
import { EmptyState } from '../ui/states.tsx';
import { texts } from './texts.ts';

export function ReportProgress({ report }: { report: Exclude<Report, { state: 'ready' }> }) {
  if (report.state === 'failed') {
    return (
      <EmptyState icon={<TriangleAlert />} title={texts.progress.failed}>
        {texts.progress.failedHelp}
      </EmptyState>
    );
  }
  return (
    <ProgressBar
      value={report.done * 100}
      className="mx-auto grid w-full max-w-xl gap-3 py-12 tabular-nums"
    >
      {({ percentage, valueText }) => (
        <>
          <div className="flex justify-between gap-4">
            <Label className="font-semibold">{texts.progress.title}</Label>
            <span className="text-quiet">{valueText}</span>
          </div>
          <div className="h-3 overflow-hidden rounded-full bg-raised">
            <div className="h-full rounded-full bg-accent" style={{ width: `${percentage}%` }} />
          </div>
          <p className="text-quiet">{texts.progress.help}</p>
        </>
      )}
    </ProgressBar>
  );
}
