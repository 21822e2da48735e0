import type { StudioStream } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';

export function StreamStatus({ status }: Pick<StudioStream, 'status'>) {
  if (status === 'STREAMING') {
    return (
      <Badge variant="live">
        <span aria-hidden="true" className="size-2 rounded-full bg-current" />
        Live
      </Badge>
    );
  }
  return <Badge>{status === 'ENDED' ? 'Ended' : 'Upcoming'}</Badge>;
}
