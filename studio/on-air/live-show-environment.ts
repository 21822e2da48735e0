import { connectionEnvironment } from '../connection/connection-environment.ts';
import type { LiveShowEnvironment, LiveShowSource } from './live-show.ts';

/** The environment of this page for one show. */
export function liveShowEnvironment(streamId: string): LiveShowEnvironment {
  return {
    ...connectionEnvironment,
    open: (from) => openEventSource(streamId, from),
  };
}

function openEventSource(streamId: string, from: number | null): LiveShowSource {
  const query = from === null ? '' : `?interval=${from}`;
  const events = new EventSource(`/studio/v1/streams/${streamId}/live${query}`);
  const source: LiveShowSource = {
    onState: () => {},
    onInterval: () => {},
    onClose: () => {},
    close: () => events.close(),
  };
  events.addEventListener('state', ({ data }) => source.onState(data));
  events.onmessage = ({ data }) => source.onInterval(data);
  // LiveShow reopens the stream itself, from the interval it needs.
  events.onerror = () => source.onClose();
  return source;
}
