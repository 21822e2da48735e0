import { Radio } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/switch.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { texts } from './texts.ts';

const COUNTDOWN_S = 5;

interface Countdown {
  /** By `performance.now()`. The page may render at any time, which must not delay it. */
  readonly endsAtMs: number;
  readonly remainingS: number;
}

function startCountdown(remainingS: number): Countdown {
  return { endsAtMs: performance.now() + remainingS * 1_000, remainingS };
}

/** Shows the video of a preview to viewers, after a countdown if the host likes. */
export function GoLive({ stream }: { readonly stream: StudioStream }) {
  const [hasCountdown, setHasCountdown] = useState(false);
  const [countdown, setCountdown] = useState<Countdown | null>(null);
  const start = useApiMutation('startStream', {
    invalidates: ['readOwnStream', 'listOwnStreams'],
    onSuccess: () => showSuccess(texts.goLive.done),
  });
  const { mutate } = start;
  const streamId = stream.id;
  useEffect(() => {
    if (countdown === null) return;
    const { endsAtMs, remainingS } = countdown;
    if (remainingS === 0) {
      setCountdown(null);
      mutate({ params: { stream_id: streamId } });
      return;
    }
    const next = { endsAtMs, remainingS: remainingS - 1 };
    const nextAtMs = endsAtMs - next.remainingS * 1_000;
    const timer = setTimeout(() => setCountdown(next), nextAtMs - performance.now());
    return () => clearTimeout(timer);
  }, [countdown, mutate, streamId]);
  if (countdown !== null) {
    return (
      <div className="flex flex-wrap items-center gap-4">
        <p role="timer" className="text-xl font-bold tabular-nums">
          {texts.goLive.remaining(countdown.remainingS)}
        </p>
        <Button onPress={() => setCountdown(null)} autoFocus>
          {texts.goLive.cancel}
        </Button>
      </div>
    );
  }
  return (
    <div className="flex flex-wrap items-center gap-4">
      <Button
        variant="primary"
        size="big"
        isPending={start.isPending}
        onPress={() => setCountdown(startCountdown(hasCountdown ? COUNTDOWN_S : 0))}
        icon={<Radio />}
      >
        {texts.goLive.action}
      </Button>
      <Switch
        label={texts.goLive.countDown(COUNTDOWN_S)}
        isSelected={hasCountdown}
        onChange={setHasCountdown}
      />
    </div>
  );
}
