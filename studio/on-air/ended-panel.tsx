import { Link } from 'wouter';
import type { StudioStream } from '../../protocol/studio.ts';
import { usePermission } from '../session/session-context.ts';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';

/** The panel after the end of a show or a rehearsal. */
export function EndedPanel({ stream }: { readonly stream: StudioStream }) {
  const { id, rehearsalOf } = stream;
  const mayRead = usePermission('readReport') || rehearsalOf !== null;
  return (
    <Panel title="Next">
      <p className="font-semibold">The {rehearsalOf ? 'rehearsal' : 'show'} has ended</p>
      {mayRead && (
        <Link
          href={rehearsalOf ? `/streams/${rehearsalOf}/rehearsal` : `/streams/${id}/report`}
          className={`inline-flex min-h-14 items-center justify-center rounded-lg bg-accent px-6 text-lg font-semibold text-on-accent hover:bg-accent-hover ${FOCUS_RING}`}
        >
          {rehearsalOf ? 'View the figures' : 'View the report'}
        </Link>
      )}
    </Panel>
  );
}
