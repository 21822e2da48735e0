import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { StudioApiError } from '../api/studio-api-error.ts';
import { FOCUS_RING } from '../ui/classes.ts';
import { ErrorMessage, Loading, messageOf } from '../ui/states.tsx';
import { EntryCard } from './entry-card.tsx';
import { texts } from './texts.ts';

interface LinkGateProps<Data> {
  readonly link: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>;
  readonly children: (data: Data) => ReactNode;
}

/** Renders its children for a valid link; otherwise why the link does not work and what to do. */
export function LinkGate<Data>({ link, children }: LinkGateProps<Data>) {
  const { data, error, refetch } = link;
  if (data !== undefined) return children(data);
  if (error === null) {
    return (
      <EntryCard title={texts.link.checkingTitle}>
        <Loading label={texts.link.checking} />
      </EntryCard>
    );
  }
  if (error instanceof StudioApiError && !error.isTransient) {
    return (
      <EntryCard title={texts.link.invalid}>
        <p role="alert">{messageOf(error)}</p>
        <a href="/studio/" className={`justify-self-start underline ${FOCUS_RING}`}>
          {texts.link.openStudio}
        </a>
      </EntryCard>
    );
  }
  return (
    <EntryCard title={texts.link.checkFailed}>
      <ErrorMessage error={error} onRetry={() => refetch()} />
    </EntryCard>
  );
}
