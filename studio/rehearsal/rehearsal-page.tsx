import { LockKeyhole } from 'lucide-react';
import { usePermission } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { EmptyState, Loaded } from '../ui/states.tsx';
import { CurrentRehearsal } from './current-rehearsal.tsx';
import { NewRehearsalPanel } from './new-rehearsal-panel.tsx';
import { texts } from './texts.ts';
import { useRehearsal } from './use-rehearsal.ts';

/** The page for a private test run with simulated viewers. */
export function RehearsalPage({ streamId }: { readonly streamId: string }) {
  return <StreamPage streamId={streamId}>{() => <Rehearsal showId={streamId} />}</StreamPage>;
}

function Rehearsal({ showId }: { readonly showId: string }) {
  const query = useRehearsal(showId);
  const mayStart = usePermission('createRehearsal');
  return (
    <Loaded query={query} label={texts.loading}>
      {(rehearsal) => {
        if (rehearsal) return <CurrentRehearsal showId={showId} rehearsal={rehearsal} />;
        return mayStart ? <NewRehearsalPanel showId={showId} /> : <NoRehearsal />;
      }}
    </Loaded>
  );
}

function NoRehearsal() {
  return (
    <EmptyState icon={<LockKeyhole />} title={texts.none.title}>
      {texts.none.help}
    </EmptyState>
  );
}
