import { useSyncExternalStore } from 'react';
import type { Snapshot } from '../../sdk/viewer.ts';
import type { StageStatus } from './stage-status.ts';

const LABELS = { CREATED: 'Not started', STREAMING: 'Live', ENDED: 'Replay' } as const;

interface StatusBadgeProps {
  readonly snapshot: Snapshot;
  readonly status: StageStatus;
  /** Whether the badge has the viewer count, as in an embedded page without the audience panel. */
  readonly hasCount: boolean;
}

/** The status of the show and of the connection, over the video. */
export function StatusBadge({ snapshot, status, hasCount }: StatusBadgeProps) {
  const { stream, state, count } = snapshot;
  const isOnline = useOnline();
  if (!stream) return null;
  const isOver = status === 'over' || status === 'no-recording';
  return (
    <p className="badge">
      <span className={`badge-status badge-status--${stream.status.toLowerCase()}`}>
        {isOver ? 'Ended' : LABELS[stream.status]}
      </span>
      {hasCount && count && state !== 'ended' && (
        <span className="badge-count">
          {count.formatted} {stream.status === 'CREATED' ? 'waiting' : 'watching'}
        </span>
      )}
      {state === 'catching-up' && <span className="badge-connection">Catching up…</span>}
      {(state === 'offline' || !isOnline) && <span className="badge-connection">Connecting…</span>}
    </p>
  );
}

/** Whether the browser has a network; it knows sooner than requests fail. */
function useOnline(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      addEventListener('online', onChange);
      addEventListener('offline', onChange);
      return () => {
        removeEventListener('online', onChange);
        removeEventListener('offline', onChange);
      };
    },
    () => navigator.onLine,
  );
}
