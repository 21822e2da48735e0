import { readEventStream } from '../../sdk/feed/event-stream.ts';
import { connectionEnvironment } from '../connection/connection-environment.ts';
import type { DisplayEnvironment, DisplayEvents } from './display-show.ts';

/**
 * The environment of this page for one show.
 * @param key presenter key; null: the signed-in session authorizes
 */
export function displayEnvironment(streamId: string, key: string | null): DisplayEnvironment {
  return {
    ...connectionEnvironment,
    open: (events) => openEventStream(streamId, key, events),
    monotonicMs: () => performance.now(),
  };
}

// EventSource cannot send headers, and a key in the URL would end up in access logs.
// A mistyped key may have characters that headers cannot; encoding leaves a valid one as it is.
function openEventStream(
  streamId: string,
  key: string | null,
  { onState, onRefused, onClose }: DisplayEvents,
): () => void {
  const abort = new AbortController();
  const read = async () => {
    const response = await fetch(`/studio/v1/streams/${encodeURIComponent(streamId)}/present`, {
      headers: {
        Accept: 'text/event-stream',
        ...(key !== null && { Authorization: `Presenter ${encodeURIComponent(key)}` }),
      },
      cache: 'no-store',
      signal: abort.signal,
    });
    if (response.status === 401 || response.status === 404) onRefused(response.status);
    if (!response.ok || !response.body) return;
    await readEventStream(response.body, abort.signal, onState);
  };
  read()
    .catch(() => {})
    .then(() => onClose());
  return () => abort.abort();
}
