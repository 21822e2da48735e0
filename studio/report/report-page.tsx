import { FileClock, LockKeyhole, Printer } from 'lucide-react';
import { Link } from 'wouter';
import type { Report } from '../../protocol/report.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { EmptyState, Loaded } from '../ui/states.tsx';
import { ReadyView } from './ready-view.tsx';
import { ReportProgress } from './report-progress.tsx';
import { texts } from './texts.ts';

const POLL_MS = 1_000;
/** The service retries a failed report, but not at once. */
const POLL_FAILED_MS = 10_000;

/** The report of a show after its end. */
export function ReportPage({ streamId }: { readonly streamId: string }) {
  const mayRead = usePermission('readReport');
  return (
    <StreamPage
      streamId={streamId}
      actions={({ status }) => mayRead && status === 'ENDED' && <Print />}
    >
      {(stream) => {
        if (!mayRead) return <NoPermission />;
        return stream.status === 'ENDED' ? (
          <LoadedReport stream={stream} />
        ) : (
          <NotEnded stream={stream} />
        );
      }}
    </StreamPage>
  );
}

function Print() {
  return (
    <Button onPress={() => print()} icon={<Printer />}>
      {texts.print}
    </Button>
  );
}

function NoPermission() {
  return (
    <EmptyState icon={<LockKeyhole />} title={texts.noPermission.title}>
      {texts.noPermission.help}
    </EmptyState>
  );
}

function NotEnded({ stream }: { readonly stream: StudioStream }) {
  return (
    <EmptyState icon={<FileClock />} title={texts.notEnded.title}>
      {texts.notEnded.help}
      <Link
        href={`/streams/${stream.id}/on-air`}
        className={`inline-flex min-h-11 items-center underline ${FOCUS_RING}`}
      >
        {texts.notEnded.link}
      </Link>
    </EmptyState>
  );
}

function LoadedReport({ stream }: { readonly stream: StudioStream }) {
  const query = useApiQuery(
    'readReport',
    { params: { stream_id: stream.id } },
    { refetchIntervalMs: pollInterval },
  );
  return (
    <Loaded query={query} label={texts.loading}>
      {(report) =>
        report.state === 'ready' ? (
          <ReadyView stream={stream} report={report} />
        ) : (
          <ReportProgress report={report} />
        )
      }
    </Loaded>
  );
}

function pollInterval(report: Report | undefined): number | false {
  if (report?.state === 'working') return POLL_MS;
  return report?.state === 'failed' ? POLL_FAILED_MS : false;
}
