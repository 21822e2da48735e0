import { useQuery } from '@tanstack/react-query';
import { StudioApiError } from '../api/studio-api-error.ts';
import { useStudio } from '../api/studio-context.ts';
import { queryKeyOf, shouldRetry } from '../api/use-api-query.ts';

const POLL_MS = 1_000;

/**
 * The last rehearsal of a show; null: it has none. That is data, not an error: an error is cleared by
 * the refetch when the window gets the focus, and the page would replace the form for a new rehearsal.
 */
export function useRehearsal(showId: string) {
  const studio = useStudio();
  const input = { params: { stream_id: showId } };
  return useQuery({
    queryKey: queryKeyOf('readRehearsal', input),
    queryFn: ({ signal }) => studio.call('readRehearsal', { ...input, signal }).catch(nullIfNone),
    refetchInterval: ({ state }) => (state.data ? POLL_MS : false),
    retry: shouldRetry,
  });
}

function nullIfNone(error: unknown): null {
  if (error instanceof StudioApiError && error.status === 404) return null;
  throw error;
}
