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
import { SourceLostBanner } from '../source/source-lost-notice.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Loaded } from '../ui/states.tsx';
import { StreamStatus } from './stream-status.tsx';
import { texts } from './texts.ts';

const { sections } = texts.page;
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
    title: stream?.title ?? texts.page.untitled,
    above: (
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 print:hidden">
        <Link
          href="/"
          className={`inline-flex min-h-8 items-center gap-1 text-quiet hover:text-text ${FOCUS_RING}`}
        >
          <ArrowLeft className="size-4" />
          {texts.page.allShows}
        </Link>
        {stream && <StreamStatus status={stream.status} isRehearsal={isRehearsal} />}
        <a
          href={`/watch/${streamId}`}
          target="_blank"
          rel="noopener"
          className={`inline-flex min-h-8 items-center gap-1 text-quiet underline hover:text-text ${FOCUS_RING}`}
        >
          {texts.page.viewerPage}
          <ExternalLink className="size-4" />
          <span className="sr-only">{texts.page.newTab}</span>
        </a>
      </div>
    ),
    actions: stream && actions?.(stream),
  };
  const showId = stream?.rehearsalOf;
  const content = (
    <>
      <SectionLinks
        label={texts.page.sectionsLabel}
        links={[
          ...(isRehearsal ? [] : [linkTo('', sections.setUp)]),
          linkTo('/rundown', sections.rundown),
          ...(isRehearsal ? [] : [linkTo('/rehearsal', sections.rehearsal)]),
          linkTo('/on-air', sections.onAir),
          ...(mayReadReport && !isRehearsal ? [linkTo('/report', sections.report)] : []),
        ]}
      />
      {below === undefined && showId && <RehearsalBanner showId={showId} />}
      {below === undefined && stream && <SourceLostBanner stream={stream} />}
      <Loaded query={query} label={texts.page.loading}>
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
