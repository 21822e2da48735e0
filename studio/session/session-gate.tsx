import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import type { Session } from '../../protocol/members.ts';
import { useStudio } from '../api/studio-context.ts';
import { StudioProblem } from '../api/studio-problem.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { EntryCard } from './entry-card.tsx';
import { entryLinkOf } from './entry-link.ts';
import { LinkPage } from './link-page.tsx';
import { SessionContext } from './session-context.ts';
import { SetUpAccountPage } from './set-up-account-page.tsx';
import { SignInPage } from './sign-in-page.tsx';

const SESSION = ['session'];

/** Shows what is inside to who is signed in, and to everybody else the way in. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const studio = useStudio();
  const queries = useQueryClient();
  const [link, setLink] = useState(() => entryLinkOf(location.hash));
  const session = useQuery({
    queryKey: SESSION,
    queryFn: () => studio.call('readSession').catch(nobody),
    retry: (_, error) => error instanceof StudioProblem && error.isPassing,
    staleTime: Number.POSITIVE_INFINITY,
  });
  studio.csrf = session.data?.csrf ?? null;
  useEffect(() => {
    studio.onSignedOut = () => become(queries, null);
  }, [studio, queries]);
  const enter = (entered: Session) => {
    // The link is used up, and is not to be seen in what the browser remembers.
    history.replaceState(null, '', location.pathname);
    setLink(null);
    become(queries, entered);
  };
  if (link?.kind === 'setup') return <SetUpAccountPage token={link.token} onSession={enter} />;
  if (link) return <LinkPage token={link.token} onSession={enter} />;
  if (session.isPending) {
    return (
      <main>
        <Loading what="Opening the studio" />
      </main>
    );
  }
  if (session.isError) {
    return (
      <EntryCard title="The studio cannot be opened">
        <Failure error={session.error} onAgain={() => session.refetch()} />
      </EntryCard>
    );
  }
  if (!session.data) return <SignInPage onSession={enter} />;
  return <SessionContext value={session.data}>{children}</SessionContext>;
}

/** Nothing that somebody else has read stays. */
function become(queries: QueryClient, session: Session | null): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
  queries.setQueryData(SESSION, session);
}

function nobody(error: unknown): null {
  if (error instanceof StudioProblem && error.status === 401) return null;
  throw error;
}
