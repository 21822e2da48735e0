import { type ReactNode, useState } from 'react';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Confirm } from '../ui/dialog.tsx';
import { externalVideoOf } from './external-video.ts';
import { texts } from './texts.ts';

interface StartShowOptions {
  /** Whether a video source of this service is connected. */
  readonly hasSource: boolean;
  /** Called when the start is sent to the service. */
  readonly onSend?: () => void;
  readonly onSuccess?: () => void;
  readonly onError?: (error: unknown) => void;
}

interface StartShow {
  readonly start: () => void;
  readonly isPending: boolean;
  /** Asks before a start without video; to be rendered beside the button. */
  readonly dialog: ReactNode;
}

/**
 * Starts a show. Without video it asks first, since a started show does not become upcoming again.
 * A rehearsal has no video, and the video of another service is not known here.
 */
export function useStartShow(
  stream: StudioStream,
  { hasSource, onSend, onSuccess, onError }: StartShowOptions,
): StartShow {
  const [isAsking, setAsking] = useState(false);
  const { mutate, isPending } = useApiMutation('startStream', {
    invalidates: ['readOwnStream', 'listOwnStreams', 'listQuizzes'],
    onSuccess: () => {
      setAsking(false);
      onSuccess?.();
    },
    ...(onError && { onError }),
  });
  const send = () => {
    onSend?.();
    mutate({ params: { stream_id: stream.id } });
  };
  const isExternal = externalVideoOf(stream).hls_url !== null;
  const hasVideo = hasSource || stream.rehearsalOf !== null || isExternal;
  return {
    start: hasVideo ? send : () => setAsking(true),
    isPending,
    dialog: (
      <Confirm
        title={texts.startWithoutVideo.title}
        action={texts.startWithoutVideo.action}
        isOpen={isAsking}
        onOpenChange={setAsking}
        isPending={isPending}
        onConfirm={send}
      >
        {texts.startWithoutVideo.effect}
      </Confirm>
    ),
  };
}
