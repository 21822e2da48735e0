import { LockKeyhole } from 'lucide-react';
import { StudioApiError } from '../api/studio-api-error.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { EmptyState, ErrorMessage, Loading } from '../ui/states.tsx';
import { CurrentRehearsal } from './current-rehearsal.tsx';
import { NewRehearsalPanel } from './new-rehearsal-panel.tsx';
import { texts } from './texts.ts';

/** The page for a private test run with simulated viewers. */
export function RehearsalPage({ streamId }: { readonly streamId: string }) {
  return <StreamPage streamId={streamId}>{() => <Rehearsal showId={streamId} />}</StreamPage>;
}

function Rehearsal({ showId }: { readonly showId: string }) {
  const query = useApiQuery('readRehearsal', { params: { stream_id: showId } });
  const mayStart = usePermission('createRehearsal');
  const hasNone = query.error instanceof StudioApiError && query.error.status === 404;
  if (hasNone) return mayStart ? <NewRehearsalPanel showId={showId} /> : <NoRehearsal />;
  if (query.data) return <CurrentRehearsal showId={showId} rehearsal={query.data} />;
  if (query.isError) return <ErrorMessage error={query.error} onRetry={() => query.refetch()} />;
  return <Loading label={texts.loading} />;
}

function NoRehearsal() {
  return (
    <EmptyState icon={<LockKeyhole />} title={texts.none.title}>
      {texts.none.help}
    </EmptyState>
  );
}
