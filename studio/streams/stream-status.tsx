import type { StudioStream } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';

/** Where a stream is: to come, live or over. */
export function StreamStatus({ status }: Pick<StudioStream, 'status'>) {
  if (status === 'STREAMING') {
    return (
      <Badge look="live">
        <span aria-hidden="true" className="size-2 rounded-full bg-current" />
        Live
      </Badge>
    );
  }
  return <Badge>{status === 'ENDED' ? 'Over' : 'To come'}</Badge>;
}
