import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import type { Session } from '../../protocol/members.ts';
import { StudioApiError } from '../api/studio-api-error.ts';
import { useStudio } from '../api/studio-context.ts';
import { ErrorMessage, Loading } from '../ui/states.tsx';
import { EntryCard } from './entry-card.tsx';
import { entryLinkOf } from './entry-link.ts';
import { LinkPage } from './link-page.tsx';
import { SessionContext } from './session-context.ts';
import { SetUpAccountPage } from './set-up-account-page.tsx';
import { markSignIn } from './sign-in-mark.ts';
import { SignInPage } from './sign-in-page.tsx';
import { texts } from './texts.ts';

// The key of `readSession`, so that mutations can invalidate the session.
const SESSION_KEY = ['readSession'];
/** Tells the other tabs that a member signed in: the tabs of a browser share one session. */
const SIGN_IN_CHANNEL = 'fourbeat-sign-in';

/** Renders its children for a signed-in member, and sign-in or link pages otherwise. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const studio = useStudio();
  const queries = useQueryClient();
  const [link, setLink] = useState(() => entryLinkOf(location.hash));
  const session = useQuery({
    queryKey: SESSION_KEY,
    queryFn: async () => {
      const read = await studio.call('readSession').catch(nullIfSignedOut);
      const before = queries.getQueryData<Session | null>(SESSION_KEY);
      if (before && before.member.uuid !== read?.member.uuid) dropPageData(queries);
      return read;
    },
    retry: (_, error) => error instanceof StudioApiError && error.isTransient,
    staleTime: Number.POSITIVE_INFINITY,
  });
  studio.csrf = session.data?.csrf ?? null;
  useEffect(() => {
    const reload = () => void queries.invalidateQueries({ queryKey: SESSION_KEY });
    studio.onSignedOut = () => setSession(queries, null);
    studio.onSessionReplaced = reload;
    const channel = new BroadcastChannel(SIGN_IN_CHANNEL);
    channel.onmessage = reload;
    return () => channel.close();
  }, [studio, queries]);
  const enter = (entered: Session) => {
    // The link is used up; keep it out of the browser history.
    markSignIn(location.pathname);
    setLink(null);
    setSession(queries, entered);
    const channel = new BroadcastChannel(SIGN_IN_CHANNEL);
    channel.postMessage(null);
    channel.close();
  };
  if (link?.kind === 'setup') return <SetUpAccountPage token={link.token} onSession={enter} />;
  if (link) return <LinkPage token={link.token} onSession={enter} />;
  if (session.isPending) {
    return (
      <main>
        <Loading label={texts.opening} />
      </main>
    );
  }
  if (session.isLoadingError) {
    return (
      <EntryCard title={texts.openingFailed}>
        <ErrorMessage error={session.error} onRetry={() => session.refetch()} />
      </EntryCard>
    );
  }
  if (!session.data) return <SignInPage onSession={enter} />;
  return (
    // Pages of another member start anew.
    <SessionContext key={session.data.member.uuid} value={session.data}>
      {children}
    </SessionContext>
  );
}

/** Switches the session and drops the data of the previous one. */
function setSession(queries: QueryClient, session: Session | null): void {
  dropPageData(queries);
  queries.setQueryData(SESSION_KEY, session);
}

function dropPageData(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}

function nullIfSignedOut(error: unknown): null {
  if (error instanceof StudioApiError && error.status === 401) return null;
  throw error;
}
