import { useSyncExternalStore } from 'react';
import type { Snapshot } from '../../sdk/viewer.ts';
import { texts } from '../texts.ts';
import type { StageStatus } from './stage-status.ts';

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
        {isOver ? texts.badge.over : texts.badge.states[stream.status]}
      </span>
      {hasCount && count && state !== 'ended' && (
        <span className="badge-count">
          {count.formatted}{' '}
          {stream.status === 'CREATED' ? texts.audience.waiting : texts.audience.watching}
        </span>
      )}
      {state === 'catching-up' && (
        <span className="badge-connection">{texts.badge.catchingUp}</span>
      )}
      {(state === 'offline' || !isOnline) && (
        <span className="badge-connection">{texts.badge.connecting}</span>
      )}
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
