import { Link } from 'wouter';
import { useMay } from '../session/session-context.ts';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';

/** What comes after the end of a show. */
export function OverPanel({ streamId }: { readonly streamId: string }) {
  const mayRead = useMay('readReport');
  return (
    <Panel title="Next">
      <p className="font-semibold">The show is over</p>
      {mayRead && (
        <Link
          href={`/streams/${streamId}/report`}
          className={`inline-flex min-h-14 items-center justify-center rounded-lg bg-accent px-6 text-lg font-semibold text-on-accent hover:bg-accent-hover ${FOCUS_RING}`}
        >
          See the report
        </Link>
      )}
    </Panel>
  );
}
