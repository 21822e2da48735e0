import { readEventStream } from '../../sdk/feed/event-stream.ts';
import { lineBrowser } from '../line/line-browser.ts';
import type { PresentBrowser, PresentSource } from './presented-show.ts';

/** The browser of this page, for one show. @param key null: the session that is signed in goes with it */
export function presentBrowser(streamId: string, key: string | null): PresentBrowser {
  return {
    ...lineBrowser,
    open: () => openSource(streamId, key),
    monotonicMs: () => performance.now(),
  };
}

// Not by EventSource, which sends no headers: the key has no business in an address, which is kept in
// the logs of whatever is on the way.
function openSource(streamId: string, key: string | null): PresentSource {
  const abort = new AbortController();
  const source: PresentSource = {
    onState: () => {},
    onRefused: () => {},
    onEnd: () => {},
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
    .then(() => source.onEnd());
  return source;
}
