import { ExternalLink } from 'lucide-react';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';

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
          Open in a new tab
          <ExternalLink className="size-4" />
        </a>
      }
    >
      <iframe
        src={page}
        title="What viewers see"
        className="h-[40rem] max-h-[80dvh] w-full rounded-xl border border-line"
      />
      <p className="text-sm text-quiet">You count as a viewer and can play along.</p>
    </Panel>
  );
}
