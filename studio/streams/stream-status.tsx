import type { StudioStream } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';
import { texts } from './texts.ts';

interface StreamStatusProps extends Pick<StudioStream, 'status'> {
  /** A running rehearsal must not look like a live show. */
  readonly isRehearsal?: boolean;
}

export function StreamStatus({ status, isRehearsal = false }: StreamStatusProps) {
  if (status === 'STREAMING') {
    if (isRehearsal) return <Badge variant="accent">{texts.status.rehearsal}</Badge>;
    return (
      <Badge variant="live">
        <span aria-hidden="true" className="size-2 rounded-full bg-current" />
        {texts.status.live}
      </Badge>
    );
  }
  return <Badge>{status === 'ENDED' ? texts.status.ended : texts.status.upcoming}</Badge>;
}
