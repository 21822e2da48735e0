import { useCallback, useMemo } from 'react';
import type { LiveState } from '../../../protocol/live.ts';
import type { QueuedQuestion, RestrictedViewer } from '../../../protocol/moderation.ts';
import { CROWD_PAUSE_MS, useApiQuery } from '../../api/use-api-query.ts';
import type { MessageStatus } from './chat-message-row.tsx';
import type { ListedMessage } from './message-feed.tsx';

const NO_QUESTIONS: readonly QueuedQuestion[] = [];
const NO_VIEWERS: readonly RestrictedViewer[] = [];

interface HiddenIds {
  /** Messages that this page hid. */
  readonly hidden: ReadonlySet<string>;
  /** Messages that this page will hide unless the host undoes it. */
  readonly hiding: ReadonlySet<string>;
  /** Messages that anyone hid since the page was opened. */
  readonly hiddenMeanwhile: ReadonlySet<string>;
}

/** The moderation state of a show and of its messages. All hosts see the same. */
export function useChatState(
  { stream, chat, chatRevision: revision, now }: LiveState,
  { hidden, hiding, hiddenMeanwhile }: HiddenIds,
) {
  const input = { params: { stream_id: stream.id } };
  const options = { revision, revisionPauseMs: CROWD_PAUSE_MS };
  const viewersQuery = useApiQuery('listRestricted', input, options);
  const questionsQuery = useApiQuery('listQuestions', input, options);
  const viewers = viewersQuery.data?.results ?? NO_VIEWERS;
  const questions = questionsQuery.data?.results ?? NO_QUESTIONS;
  const hasExpired = viewers.some(({ until }) => until !== null && until <= now);
  const restricted = useMemo(
    () => (hasExpired ? viewers.filter(({ until }) => until === null || until > now) : viewers),
    [viewers, hasExpired, now],
  );
  const restrictions = useMemo(() => {
    const entriesOf = (wantedKind: RestrictedViewer['kind']) =>
      restricted
        .filter(({ kind }) => kind === wantedKind)
        .map(({ viewer, kind }) => [viewer, kind] as const);
    // A viewer who is muted and banned counts as banned: the later entry wins.
    return new Map([...entriesOf('muted'), ...entriesOf('banned')]);
  }, [restricted]);
  const states = useMemo(
    () => new Map(questions.map(({ line, state }) => [line.id, state])),
    [questions],
  );
  const pinnedId = chat.pinned?.id ?? null;
  const statusOf = useCallback(
    (message: ListedMessage): MessageStatus => ({
      isHidden:
        message.hidden === true || hidden.has(message.id) || hiddenMeanwhile.has(message.id),
      isHiding: hiding.has(message.id),
      isPinned: message.id === pinnedId,
      restriction: restrictions.get(message.viewer) ?? null,
      question: states.get(message.id) ?? null,
    }),
    [hidden, hiding, hiddenMeanwhile, pinnedId, restrictions, states],
  );
  return {
    restricted: { all: restricted, loadError: loadErrorOf(viewersQuery) },
    questions: { all: questions, loadError: loadErrorOf(questionsQuery) },
    pinnedId,
    statusOf,
  };
}

/** A failed load of a list. */
export interface ListError {
  readonly error: unknown;
  readonly onRetry: () => void;
}

export interface LoadedList<Item> {
  readonly all: readonly Item[];
  /** null: loaded or loading. */
  readonly loadError: ListError | null;
}

function loadErrorOf(query: {
  readonly isError: boolean;
  readonly error: unknown;
  readonly refetch: () => unknown;
}): ListError | null {
  return query.isError ? { error: query.error, onRetry: () => void query.refetch() } : null;
}
