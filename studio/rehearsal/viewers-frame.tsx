import { ExternalLink } from 'lucide-react';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';

/** What viewers see, as they see it. */
export function ViewersFrame({ streamId }: { readonly streamId: string }) {
  const page = `/watch/${streamId}`;
  return (
    <Panel
      title="What viewers see"
      aside={
        <a
          href={page}
          target="_blank"
          rel="noopener"
          className={`inline-flex min-h-8 items-center gap-1 text-quiet underline hover:text-text ${FOCUS_RING}`}
        >
          Open it
          <ExternalLink className="size-4" aria-hidden="true" />
          <span className="sr-only">(opens a new tab)</span>
        </a>
      }
    >
      <iframe
        src={page}
        title="What viewers see"
        className="h-[40rem] max-h-[80dvh] w-full rounded-xl border border-line"
      />
      <p className="text-sm text-quiet">You are counted as a viewer, too, and may play along.</p>
    </Panel>
  );
}
