import { LockKeyhole } from 'lucide-react';
import { StudioProblem } from '../api/studio-problem.ts';
import { useRead } from '../api/use-read.ts';
import { useMay } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { CurrentRehearsal } from './current-rehearsal.tsx';
import { NewRehearsalPanel } from './new-rehearsal-panel.tsx';

/** The show before the show: with synthetic viewers, and nobody outside notices. */
export function RehearsalPage({ streamId }: { readonly streamId: string }) {
  return <StreamPage streamId={streamId}>{() => <Rehearsal showId={streamId} />}</StreamPage>;
}

function Rehearsal({ showId }: { readonly showId: string }) {
  const read = useRead('readRehearsal', { params: { stream_id: showId } });
  const mayBegin = useMay('createRehearsal');
  const isNone = read.error instanceof StudioProblem && read.error.status === 404;
  if (isNone) return mayBegin ? <NewRehearsalPanel showId={showId} /> : <NothingYet />;
  if (read.data) return <CurrentRehearsal showId={showId} rehearsal={read.data} />;
  if (read.isError) return <Failure error={read.error} onAgain={() => read.refetch()} />;
  return <Loading what="Looking for a rehearsal" />;
}

function NothingYet() {
  return (
    <Empty icon={<LockKeyhole aria-hidden="true" />} title="Nobody rehearses">
      An owner or a host begins a rehearsal; it is here then.
    </Empty>
  );
}
