import { Link } from 'wouter';
import type { LiveState } from '../../protocol/live.ts';
import { usePermission } from '../session/session-context.ts';
import { ReopenShow } from '../streams/reopen-show.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { StagePanel } from './stage-panel.tsx';
import { texts } from './texts.ts';

/** The panel after the end of a show or a rehearsal. */
export function EndedPanel({ state }: { readonly state: LiveState }) {
  const { stream, now } = state;
  const { id, rehearsalOf } = stream;
  const mayRead = usePermission('readReport') || rehearsalOf !== null;
  return (
    <StagePanel title={rehearsalOf ? texts.ended.rehearsal : texts.ended.show} place="next">
      <div className="grid grid-cols-2 gap-2 pt-1 lg:grid-cols-1">
        {mayRead && (
          <Link
            href={rehearsalOf ? `/streams/${rehearsalOf}/rehearsal` : `/streams/${id}/report`}
            className={`inline-flex min-h-11 items-center justify-center rounded-lg bg-accent px-2 text-center font-semibold text-on-accent hover:bg-accent-hover lg:min-h-14 lg:text-lg ${FOCUS_RING}`}
          >
            {rehearsalOf ? texts.ended.figures : texts.ended.report}
          </Link>
        )}
        <ReopenShow stream={stream} nowMs={now} />
      </div>
    </StagePanel>
  );
}
