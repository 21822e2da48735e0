import type { StudioStream } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';

interface StreamStatusProps extends Pick<StudioStream, 'status'> {
  /** A running rehearsal must not look like a live show. */
  readonly isRehearsal?: boolean;
}

export function StreamStatus({ status, isRehearsal = false }: StreamStatusProps) {
  if (status === 'STREAMING') {
    if (isRehearsal) return <Badge variant="accent">Rehearsal</Badge>;
    return (
      <Badge variant="live">
        <span aria-hidden="true" className="size-2 rounded-full bg-current" />
        Live
      </Badge>
    );
  }
  return <Badge>{status === 'ENDED' ? 'Ended' : 'Upcoming'}</Badge>;
}
