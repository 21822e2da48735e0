import { useCallback, useMemo } from 'react';
import type { LiveState } from '../../../protocol/live.ts';
import type { QueuedQuestion, RestrictedViewer } from '../../../protocol/moderation.ts';
import { useRead } from '../../api/use-read.ts';
import type { LineFacts } from './chat-line.tsx';
import type { ListedLine } from './lines.tsx';

const NO_QUESTIONS: readonly QueuedQuestion[] = [];
const NO_VIEWERS: readonly RestrictedViewer[] = [];

/**
 * What those who run a show did about its chat, and what a line is by that: all of them see the same.
 * @param hiddenHere lines that this page hid
 * @param hiddenMeanwhile lines that anybody hid since the page is open
 */
export function useChatKeeping(
  { stream, chat, chatRevision: revision, now }: LiveState,
  hiddenHere: ReadonlySet<string>,
  hiddenMeanwhile: ReadonlySet<string>,
) {
  const input = { params: { stream_id: stream.id } };
  const viewersRead = useRead('listRestricted', input, { revision });
  const questionsRead = useRead('listQuestions', input, { revision });
  const viewers = viewersRead.data?.results ?? NO_VIEWERS;
  const questions = questionsRead.data?.results ?? NO_QUESTIONS;
  const isOver = viewers.some(({ until }) => until !== null && until <= now);
  const restricted = useMemo(
    () => (isOver ? viewers.filter(({ until }) => until === null || until > now) : viewers),
    [viewers, isOver, now],
  );
  const restrictions = useMemo(() => {
    const of = (wanted: RestrictedViewer['kind']) =>
      restricted
        .filter(({ kind }) => kind === wanted)
        .map(({ viewer, kind }) => [viewer, kind] as const);
    // Who is both is banned.
    return new Map([...of('muted'), ...of('banned')]);
  }, [restricted]);
  const states = useMemo(
    () => new Map(questions.map(({ line, state }) => [line.id, state])),
    [questions],
  );
  const pinnedId = chat.pinned?.id ?? null;
  const factsOf = useCallback(
    (line: ListedLine): LineFacts => ({
      isHidden: line.hidden === true || hiddenHere.has(line.id) || hiddenMeanwhile.has(line.id),
      isPinned: line.id === pinnedId,
      restriction: restrictions.get(line.viewer) ?? null,
      question: states.get(line.id) ?? null,
    }),
    [hiddenHere, hiddenMeanwhile, pinnedId, restrictions, states],
  );
  return {
    restricted: { all: restricted, failure: failureOf(viewersRead) },
    questions: { all: questions, failure: failureOf(questionsRead) },
    pinnedId,
    factsOf,
  };
}

/** Why a list could not be had. */
export interface ListFailure {
  readonly error: unknown;
  readonly onAgain: () => void;
}

/** A list of which there is as much as could be had. */
export interface KeptList<Item> {
  readonly all: readonly Item[];
  /** null: it is all there, or on its way. */
  readonly failure: ListFailure | null;
}

function failureOf(read: {
  readonly isError: boolean;
  readonly error: unknown;
  readonly refetch: () => unknown;
}): ListFailure | null {
  return read.isError ? { error: read.error, onAgain: () => void read.refetch() } : null;
}
