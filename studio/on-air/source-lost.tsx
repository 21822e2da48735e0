import type { LiveState } from '../../protocol/live.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { usePermission } from '../session/session-context.ts';
import { timeOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { showError, showSuccess } from '../ui/toasts.tsx';

interface SourceLostProps {
  readonly state: LiveState;
  /** When the show ends unless the source returns, Unix ms. */
  readonly endsAtMs: number;
}

/** A live show whose source left: counts down to its end, and lets a host keep it open. */
export function SourceLost({ state, endsAtMs }: SourceLostProps) {
  const mayChange = usePermission('patchStream');
  const isRehearsal = state.stream.rehearsalOf !== null;
  const { mutate, isPending } = useApiMutation('patchStream', {
    invalidates: ['readOwnStream'],
    onSuccess: () => showSuccess('The show stays open until you end it.'),
    onError: showError,
  });
  return (
    <div className="grid aspect-video content-center justify-items-center gap-3 rounded-lg bg-bad-soft p-4 text-center text-bad">
      {/* The time of the end: a screen reader would read out a countdown every second. */}
      <p role="alert" className="font-semibold">
        The video source is disconnected. Unless it reconnects, the show ends automatically at{' '}
        {timeOf(endsAtMs)}.
      </p>
      <p aria-hidden="true" className="text-3xl font-bold tabular-nums">
        {durationText(endsAtMs - state.now)}
      </p>
      {mayChange && !isRehearsal && (
        <Button
          isPending={isPending}
          onPress={() =>
            mutate({ params: { stream_id: state.stream.id }, body: { keepOpen: true } })
          }
        >
          Keep the show open
        </Button>
      )}
    </div>
  );
}

/** Minutes and seconds, such as `0:07`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
