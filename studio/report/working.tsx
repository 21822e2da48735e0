import { TriangleAlert } from 'lucide-react';
import { Label, ProgressBar } from 'react-aria-components';
import type { Report } from '../../protocol/report.ts';
import { Empty } from '../ui/states.tsx';

/** A report that is not there yet. */
export function Working({ report }: { readonly report: Exclude<Report, { state: 'ready' }> }) {
  if (report.state === 'failed') {
    return (
      <Empty icon={<TriangleAlert aria-hidden="true" />} title="The report could not be made">
        The service tries again by itself, and this page shows it then. Nothing of the show is lost:
        whoever runs the service finds the reason in its log.
      </Empty>
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
            <Label className="font-semibold">The report is being made</Label>
            <span className="text-quiet">{valueText}</span>
          </div>
          <div className="h-3 overflow-hidden rounded-full bg-raised">
            <div className="h-full rounded-full bg-accent" style={{ width: `${percentage}%` }} />
          </div>
          <p className="text-quiet">You can leave this page: it is made all the same.</p>
        </>
      )}
    </ProgressBar>
  );
}
