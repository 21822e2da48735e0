import { readEventStream } from '../../sdk/feed/event-stream.ts';
import { connectionEnvironment } from '../connection/connection-environment.ts';
import type { DisplayEnvironment, DisplaySource } from './display-show.ts';

/**
 * The environment of this page for one show.
 * @param key presenter key; null: the signed-in session authorizes
 */
export function displayEnvironment(streamId: string, key: string | null): DisplayEnvironment {
  return {
    ...connectionEnvironment,
    open: () => openEventStream(streamId, key),
    monotonicMs: () => performance.now(),
  };
}

// EventSource cannot send headers, and a key in the URL would end up in access logs.
function openEventStream(streamId: string, key: string | null): DisplaySource {
  const abort = new AbortController();
  const source: DisplaySource = {
    onState: () => {},
    onRefused: () => {},
    onClose: () => {},
    close: () => abort.abort(),
  };
  const read = async () => {
    const response = await fetch(`/studio/v1/streams/${encodeURIComponent(streamId)}/present`, {
      headers: {
        Accept: 'text/event-stream',
        ...(key !== null && { Authorization: `Presenter ${key}` }),
      },
      cache: 'no-store',
      signal: abort.signal,
    });
    if (response.status === 401 || response.status === 404) source.onRefused(response.status);
    if (!response.ok || !response.body) return;
    await readEventStream(response.body, abort.signal, (data) => source.onState(data));
  };
  read()
    .catch(() => {})
    .then(() => source.onClose());
  return source;
}
