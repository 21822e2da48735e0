import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import type { Ingest } from '../../protocol/ingest.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Loaded } from '../ui/states.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { CameraCard } from './camera-card.tsx';
import { GoLive } from './go-live.tsx';
import { PreviewVideo } from './preview-video.tsx';
import { SourceFacts } from './source-facts.tsx';

const POLL_MS = 2_000;

/** The video source of a show: an encoder such as OBS, or the camera of this browser. */
export function SourceCard({ stream }: { readonly stream: StudioStream }) {
  const params = { stream_id: stream.id };
  const hasEnded = stream.status === 'ENDED';
  const polling = hasEnded ? {} : { refetchIntervalMs: POLL_MS };
  const query = useApiQuery('readIngest', { params }, polling);
  return (
    <section
      aria-label="Video source"
      className="grid gap-6 rounded-2xl border border-line bg-card p-4 *:min-w-0 sm:p-6"
    >
      <h2 className="text-lg font-bold">Video source</h2>
      {hasEnded && <p className="text-quiet">The show has ended.</p>}
      <Loaded query={query} label="Loading video source">
        {(ingest) =>
          !hasEnded && (
            <>
              {stream.status === 'CREATED' && ingest.source && <PreviewVideo stream={stream} />}
              {stream.status === 'CREATED' && ingest.source && <GoLive stream={stream} />}
              <SourceFacts source={ingest.source} />
              {stream.status === 'CREATED' && !ingest.source && (
                <p className="text-quiet">
                  {stream.autoStart
                    ? 'The show starts automatically when a source connects.'
                    : 'Connect a source to see a preview. Viewers see nothing until you go live.'}
                </p>
              )}
              <CameraCard stream={stream} ingest={ingest} />
              <Addresses stream={stream} ingest={ingest} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Addresses({ stream, ingest: { rtmp, srt } }: { stream: StudioStream; ingest: Ingest }) {
  const [isConfirming, setConfirming] = useState(false);
  const { mutate, isPending } = useApiMutation('rotateStreamKey', {
    invalidates: ['readIngest'],
    onSuccess: () => {
      setConfirming(false);
      showSuccess('Stream key replaced. The old key no longer works.');
    },
  });
  return (
    <div className="grid gap-4 *:min-w-0">
      <h3 className="font-bold">OBS or another encoder</h3>
      {rtmp && <Address name="Server (RTMP)" what="server" text={rtmp.url} />}
      {rtmp && <Address name="Stream key" what="stream key" text={rtmp.key} isSecret />}
      {srt && <Address name="SRT (includes the key)" what="SRT address" text={srt.url} isSecret />}
      {!rtmp && !srt && <p className="text-quiet">RTMP and SRT are disabled on this service.</p>}
      <div>
        <Button onPress={() => setConfirming(true)} icon={<RefreshCw />}>
          Replace stream key
        </Button>
      </div>
      <Confirm
        title="Replace the stream key?"
        action="Replace"
        isOpen={isConfirming}
        onOpenChange={setConfirming}
        isPending={isPending}
        onConfirm={() => mutate({ params: { stream_id: stream.id } })}
      >
        The old key stops working. A source that is live with it continues until it disconnects.
      </Confirm>
    </div>
  );
}

interface AddressProps {
  readonly name: string;
  readonly what: string;
  readonly text: string;
  /** Hidden until requested, since hosts share their screens. */
  readonly isSecret?: boolean;
}

function Address({ name, what, text, isSecret = false }: AddressProps) {
  const [isShown, setShown] = useState(!isSecret);
  return (
    <div className="grid gap-1.5 *:min-w-0">
      <span className="text-sm font-semibold">{name}</span>
      <div className="flex items-center gap-2">
        <code className="min-h-11 min-w-0 flex-1 content-center rounded-lg bg-raised px-3 py-2 break-all">
          {isShown ? text : '•'.repeat(12)}
        </code>
        {isSecret && (
          <Button
            onPress={() => setShown(!isShown)}
            aria-label={isShown ? `Hide the ${what}` : `Show the ${what}`}
          >
            {isShown ? 'Hide' : 'Show'}
          </Button>
        )}
        <CopyButton what={what} text={text} />
      </div>
    </div>
  );
}
