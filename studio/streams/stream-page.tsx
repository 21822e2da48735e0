import { ArrowLeft, ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { StudioStream } from '../../protocol/studio.ts';
import { useRead } from '../api/use-read.ts';
import { RehearsalBanner } from '../rehearsal/rehearsal-banner.tsx';
import { useMay } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { SectionLinks } from '../shell/section-links.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { StreamStatus } from './stream-status.tsx';

const AGAIN_MS = 3_000;

interface StreamPageProps {
  readonly streamId: string;
  readonly actions?: (stream: StudioStream) => ReactNode;
  readonly children: (stream: StudioStream) => ReactNode;
}

/** What all pages of one show have around them. */
export function StreamPage({ streamId, actions, children }: StreamPageProps) {
  const read = useRead('readOwnStream', { params: { stream_id: streamId } }, { againMs: AGAIN_MS });
  const stream = read.data;
  const isRehearsal = Boolean(stream?.rehearsalOf);
  const mayReport = useMay('readReport');
  return (
    <Page
      title={stream?.title ?? 'Show'}
      above={
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 print:hidden">
          <Link
            href="/"
            className={`inline-flex min-h-8 items-center gap-1 text-quiet hover:text-text ${FOCUS_RING}`}
          >
            <ArrowLeft className="size-4" aria-hidden="true" />
            All shows
          </Link>
          {stream && <StreamStatus status={stream.status} />}
          <a
            href={`/watch/${streamId}`}
            target="_blank"
            rel="noopener"
            className={`inline-flex min-h-8 items-center gap-1 text-quiet underline hover:text-text ${FOCUS_RING}`}
          >
            Viewers’ page
            <ExternalLink className="size-4" aria-hidden="true" />
            <span className="sr-only">(opens a new tab)</span>
          </a>
        </div>
      }
      actions={stream && actions?.(stream)}
    >
      <SectionLinks
        label="Parts of the show"
        links={[
          ...(isRehearsal ? [] : [{ href: `/streams/${streamId}`, text: 'Set up' }]),
          { href: `/streams/${streamId}/rundown`, text: 'Rundown' },
          ...(isRehearsal ? [] : [{ href: `/streams/${streamId}/rehearsal`, text: 'Rehearsal' }]),
          { href: `/streams/${streamId}/on-air`, text: 'On air' },
          ...(mayReport && !isRehearsal
            ? [{ href: `/streams/${streamId}/report`, text: 'Report' }]
            : []),
        ]}
      />
      {stream?.rehearsalOf && <RehearsalBanner showId={stream.rehearsalOf} />}
      {read.isPending && <Loading what="Looking for the show" />}
      {read.isError && !stream && <Failure error={read.error} onAgain={() => read.refetch()} />}
      {stream && children(stream)}
    </Page>
  );
}
