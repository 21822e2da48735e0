import { Unplug } from 'lucide-react';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { timeOf } from '../shell/times.ts';
import { Badge } from '../ui/badge.tsx';
import { KeepOpenButton } from './keep-open-button.tsx';
import { texts } from './texts.ts';

const POLL_MS = 3_000;

interface SourceLostProps {
  readonly stream: StudioStream;
}

/** Says on a page of a live show that its source left, and when the show ends. */
export function SourceLostBanner({ stream }: SourceLostProps) {
  return useMayBeLost(stream) && <Banner stream={stream} />;
}

/** Marks a live show in a list when its source left. */
export function SourceLostBadge({ stream }: SourceLostProps) {
  return useMayBeLost(stream) && <LostBadge stream={stream} />;
}

function useMayBeLost({ status, rehearsalOf }: StudioStream): boolean {
  return usePermission('readIngest') && status === 'STREAMING' && rehearsalOf === null;
}

/** When the show ends unless its source returns, Unix ms; null: it has its source, or stays open. */
function useEndMs({ id }: StudioStream): number | null {
  const params = { stream_id: id };
  const { data } = useApiQuery('readIngest', { params }, { refetchIntervalMs: POLL_MS });
  return data?.sourceEndsAt ?? null;
}

function Banner({ stream }: SourceLostProps) {
  const endsAtMs = useEndMs(stream);
  if (endsAtMs === null) return null;
  return (
    <div className="sticky top-3 z-10 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl bg-bad-soft p-3 font-semibold text-bad shadow-lg print:hidden">
      <p role="alert" className="flex min-w-0 flex-1 basis-60 gap-3">
        <Unplug className="mt-0.5 size-5 shrink-0" />
        {texts.sourceLost.explanation(timeOf(endsAtMs))}
      </p>
      <KeepOpenButton stream={stream} />
    </div>
  );
}

function LostBadge({ stream }: SourceLostProps) {
  const endsAtMs = useEndMs(stream);
  return (
    endsAtMs !== null && (
      <span className="justify-self-start">
        <Badge variant="bad">{texts.sourceLost.endsAt(timeOf(endsAtMs))}</Badge>
      </span>
    )
  );
}
