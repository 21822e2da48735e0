import { FileClock, LockKeyhole, Printer } from 'lucide-react';
import { Link } from 'wouter';
import type { Report } from '../../protocol/report.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { useRead } from '../api/use-read.ts';
import { useMay } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { ReadyView } from './ready-view.tsx';
import { Working } from './working.tsx';

const AGAIN_MS = 1_000;
/** The service tries again by itself, and not at once. */
const AFTER_FAILURE_MS = 10_000;

/** What a show was, after its end. */
export function ReportPage({ streamId }: { readonly streamId: string }) {
  const may = useMay('readReport');
  return (
    <StreamPage
      streamId={streamId}
      actions={({ status }) => may && status === 'ENDED' && <Print />}
    >
      {(stream) => {
        if (!may) return <NotYours />;
        return stream.status === 'ENDED' ? (
          <ReportOf stream={stream} />
        ) : (
          <NotOver stream={stream} />
        );
      }}
    </StreamPage>
  );
}

function Print() {
  return (
    <Button onPress={() => print()}>
      <Printer aria-hidden="true" />
      Print
    </Button>
  );
}

function NotYours() {
  return (
    <Empty icon={<LockKeyhole aria-hidden="true" />} title="Reports are for owners and hosts">
      Ask one of them for it: it can be printed, and has files to send.
    </Empty>
  );
}

function NotOver({ stream }: { readonly stream: StudioStream }) {
  return (
    <Empty icon={<FileClock aria-hidden="true" />} title="The show is not over yet">
      Its report is made by itself when it has ended.
      <Link
        href={`/streams/${stream.id}/on-air`}
        className={`inline-flex min-h-11 items-center underline ${FOCUS_RING}`}
      >
        To the show
      </Link>
    </Empty>
  );
}

function ReportOf({ stream }: { readonly stream: StudioStream }) {
  const read = useRead('readReport', { params: { stream_id: stream.id } }, { againMs: againAfter });
  if (read.isPending) return <Loading what="Looking for the report" />;
  if (!read.data) return <Failure error={read.error} onAgain={() => read.refetch()} />;
  if (read.data.state === 'ready') return <ReadyView stream={stream} report={read.data} />;
  return <Working report={read.data} />;
}

function againAfter(report: Report | undefined): number | false {
  if (report?.state === 'working') return AGAIN_MS;
  return report?.state === 'failed' ? AFTER_FAILURE_MS : false;
}
