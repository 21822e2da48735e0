import { Radio } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { Switch } from '../ui/switch.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { texts } from './texts.ts';

const COUNTDOWN_S = 5;

/** Shows the video of a preview to viewers, after a countdown if the host likes. */
export function GoLive({ stream }: { readonly stream: StudioStream }) {
  const [hasCountdown, setHasCountdown] = useState(false);
  const [remainingS, setRemainingS] = useState<number | null>(null);
  const start = useApiMutation('startStream', {
    invalidates: ['readOwnStream', 'listOwnStreams'],
    onSuccess: () => showSuccess(texts.goLive.done),
  });
  const { mutate } = start;
  const streamId = stream.id;
  useEffect(() => {
    if (remainingS === null) return;
    if (remainingS === 0) {
      setRemainingS(null);
      mutate({ params: { stream_id: streamId } });
      return;
    }
    const timer = setTimeout(() => setRemainingS(remainingS - 1), 1_000);
    return () => clearTimeout(timer);
  }, [remainingS, mutate, streamId]);
  if (remainingS !== null) {
    return (
      <div className="flex flex-wrap items-center gap-4">
        <p role="timer" className="text-xl font-bold tabular-nums">
          {texts.goLive.remaining(remainingS)}
        </p>
        <Button onPress={() => setRemainingS(null)} autoFocus>
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
        onPress={() => setRemainingS(hasCountdown ? COUNTDOWN_S : 0)}
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
