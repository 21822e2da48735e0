import { ArrowLeft, ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { RehearsalBand, RehearsalBanner } from '../rehearsal/rehearsal-banner.tsx';
import { usePermission } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { ScreenPage } from '../shell/screen-page.tsx';
import { SectionLinks } from '../shell/section-links.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Loaded } from '../ui/states.tsx';
import { StreamStatus } from './stream-status.tsx';

const POLL_MS = 3_000;

interface StreamPageProps {
  readonly streamId: string;
  readonly actions?: (stream: StudioStream) => ReactNode;
  readonly children: (stream: StudioStream) => ReactNode;
  /** Shown below the first screen, which `children` then fill. */
  readonly below?: ReactNode;
}

/** The layout of all pages of a show. */
export function StreamPage({ streamId, actions, children, below }: StreamPageProps) {
  const query = useApiQuery(
    'readOwnStream',
    { params: { stream_id: streamId } },
    { refetchIntervalMs: POLL_MS },
  );
  const stream = query.data;
  const isRehearsal = Boolean(stream?.rehearsalOf);
  const mayReadReport = usePermission('readReport');
  const linkTo = (path: string, text: string) => ({ href: `/streams/${streamId}${path}`, text });
  const header = {
    title: stream?.title ?? 'Show',
    above: (
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 print:hidden">
        <Link
          href="/"
          className={`inline-flex min-h-8 items-center gap-1 text-quiet hover:text-text ${FOCUS_RING}`}
        >
          <ArrowLeft className="size-4" />
          All shows
        </Link>
        {stream && <StreamStatus status={stream.status} isRehearsal={isRehearsal} />}
        <a
          href={`/watch/${streamId}`}
          target="_blank"
          rel="noopener"
          className={`inline-flex min-h-8 items-center gap-1 text-quiet underline hover:text-text ${FOCUS_RING}`}
        >
          Viewer page
          <ExternalLink className="size-4" />
          <span className="sr-only">(opens a new tab)</span>
        </a>
      </div>
    ),
    actions: stream && actions?.(stream),
  };
  const showId = stream?.rehearsalOf;
  const content = (
    <>
      <SectionLinks
        label="Show sections"
        links={[
          ...(isRehearsal ? [] : [linkTo('', 'Set up')]),
          linkTo('/rundown', 'Rundown'),
          ...(isRehearsal ? [] : [linkTo('/rehearsal', 'Rehearsal')]),
          linkTo('/on-air', 'On air'),
          ...(mayReadReport && !isRehearsal ? [linkTo('/report', 'Report')] : []),
        ]}
      />
      {below === undefined && showId && <RehearsalBanner showId={showId} />}
      <Loaded query={query} label="Loading show">
        {children}
      </Loaded>
    </>
  );
  if (below === undefined) return <Page {...header}>{content}</Page>;
  return (
    <ScreenPage {...header} note={showId && <RehearsalBand showId={showId} />} below={below}>
      {content}
    </ScreenPage>
  );
}
