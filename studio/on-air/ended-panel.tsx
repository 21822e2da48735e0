import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { LiveState } from '../../protocol/live.ts';
import { usePermission } from '../session/session-context.ts';
import { ReopenShow } from '../streams/reopen-show.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { StagePanel } from './stage-panel.tsx';
import { texts } from './texts.ts';

interface EndedPanelProps {
  readonly state: LiveState;
  /** Shows the results of the last quiz; null: they are shown, or there was none. */
  readonly revealButton: ReactNode;
}

/** The panel after the end of a show or a rehearsal. */
export function EndedPanel({ state, revealButton }: EndedPanelProps) {
  const { stream, now } = state;
  const { id, rehearsalOf } = stream;
  const mayRead = usePermission('readReport') || rehearsalOf !== null;
  return (
    <StagePanel title={rehearsalOf ? texts.ended.rehearsal : texts.ended.show} place="next">
      <div
        className={classes(
          'grid gap-2 pt-1 lg:pt-0',
          // Narrow screens have no room for the line about reopening below two rows of buttons.
          revealButton ? 'grid-cols-2 [&>p]:hidden lg:[&>p]:block' : 'grid-cols-2 lg:grid-cols-1',
        )}
      >
        {revealButton && <div className="col-span-full">{revealButton}</div>}
        {mayRead && (
          <Link
            href={rehearsalOf ? `/streams/${rehearsalOf}/rehearsal` : `/streams/${id}/report`}
            className={classes(
              'inline-flex min-h-11 items-center justify-center rounded-lg px-2 text-center font-semibold last:col-span-full lg:min-h-14 lg:text-lg',
              revealButton
                ? 'border border-edge hover:bg-raised'
                : 'bg-accent text-on-accent hover:bg-accent-hover',
              FOCUS_RING,
            )}
          >
            {rehearsalOf ? texts.ended.figures : texts.ended.report}
          </Link>
        )}
        <ReopenShow stream={stream} nowMs={now} />
      </div>
    </StagePanel>
  );
}
