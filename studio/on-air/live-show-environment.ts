import { connectionEnvironment } from '../connection/connection-environment.ts';
import type { LiveShowEnvironment } from './live-show.ts';

export function liveShowEnvironment(streamId: string): LiveShowEnvironment {
  return {
    ...connectionEnvironment,
    open: (from, { onState, onInterval, onClose }) => {
      const query = from === null ? '' : `?interval=${from}`;
      const source = new EventSource(`/studio/v1/streams/${streamId}/live${query}`);
      source.addEventListener('state', ({ data }) => onState(data));
      source.onmessage = ({ data }) => onInterval(data);
      // LiveShow reopens the stream itself, from the interval it needs.
      source.onerror = () => onClose();
      return () => source.close();
    },
  };
}
