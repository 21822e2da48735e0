import { ExternalLink } from 'lucide-react';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { texts } from './texts.ts';

export function ViewersFrame({ streamId }: { readonly streamId: string }) {
  const page = `/watch/${streamId}`;
  return (
    <Panel
      title={texts.viewersFrame.title}
      aside={
        <a
          href={page}
          target="_blank"
          rel="noopener"
          className={`inline-flex min-h-8 items-center gap-1 text-quiet underline hover:text-text ${FOCUS_RING}`}
        >
          {texts.viewersFrame.newTab}
          <ExternalLink className="size-4" />
        </a>
      }
    >
      <iframe
        src={page}
        title={texts.viewersFrame.title}
        className="h-[40rem] max-h-[80dvh] w-full rounded-xl border border-line"
      />
      <p className="text-sm text-quiet">{texts.viewersFrame.help}</p>
    </Panel>
  );
}
