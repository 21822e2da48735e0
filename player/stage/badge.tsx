import type { Snapshot } from '../../sdk/viewer.ts';
import type { Situation } from './situation.ts';
import { useOnline } from './use-online.ts';

const NAMES = { CREATED: 'Not started', STREAMING: 'Live', ENDED: 'Replay' } as const;

interface BadgeProps {
  readonly snapshot: Snapshot;
  readonly situation: Situation;
  /** Whether nothing else on the page says how many are watching. */
  readonly hasCount: boolean;
}

/** Where the show is, over the picture. */
export function Badge({ snapshot, situation, hasCount }: BadgeProps) {
  const { stream, state, count } = snapshot;
  const isOnline = useOnline();
  if (!stream) return null;
  const isOver = situation === 'over' || situation === 'gone';
  return (
    <p className="badge">
      <span className={`badge-status badge-status--${stream.status.toLowerCase()}`}>
        {isOver ? 'Ended' : NAMES[stream.status]}
      </span>
      {hasCount && count && state !== 'ended' && (
        <span className="badge-count">{count.formatted} watching</span>
      )}
      {state === 'catching-up' && <span className="badge-word">Catching up …</span>}
      {(state === 'offline' || !isOnline) && <span className="badge-word">Connecting …</span>}
    </p>
  );
}
