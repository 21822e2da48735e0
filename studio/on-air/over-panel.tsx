import { Link } from 'wouter';
import type { StudioStream } from '../../protocol/studio.ts';
import { useMay } from '../session/session-context.ts';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';

/** What comes after the end of a show, or of its rehearsal. */
export function OverPanel({ stream }: { readonly stream: StudioStream }) {
  const { id, rehearsalOf } = stream;
  const mayRead = useMay('readReport') || rehearsalOf !== null;
  return (
    <Panel title="Next">
      <p className="font-semibold">The {rehearsalOf ? 'rehearsal' : 'show'} is over</p>
      {mayRead && (
        <Link
          href={rehearsalOf ? `/streams/${rehearsalOf}/rehearsal` : `/streams/${id}/report`}
          className={`inline-flex min-h-14 items-center justify-center rounded-lg bg-accent px-6 text-lg font-semibold text-on-accent hover:bg-accent-hover ${FOCUS_RING}`}
        >
          {rehearsalOf ? 'See how it went' : 'See the report'}
        </Link>
      )}
    </Panel>
  );
}
