import { lineBrowser } from '../line/line-browser.ts';
import type { LiveBrowser, LiveSource } from './live-show.ts';

/** The browser of this page, for one show. */
export function liveBrowser(streamId: string): LiveBrowser {
  return {
    ...lineBrowser,
    open: (from) => openSource(streamId, from),
  };
}

function openSource(streamId: string, from: number | null): LiveSource {
  const query = from === null ? '' : `?interval=${from}`;
  const events = new EventSource(`/studio/v1/streams/${streamId}/live${query}`);
  const source: LiveSource = {
    onState: () => {},
    onInterval: () => {},
    onEnd: () => {},
    close: () => events.close(),
  };
  events.addEventListener('state', ({ data }) => source.onState(data));
  events.onmessage = ({ data }) => source.onInterval(data);
  // It is opened anew by the one who uses it, from where that one is.
  events.onerror = () => source.onEnd();
  return source;
}
