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
import { texts } from './texts.ts';

const POLL_MS = 2_000;

/** The video source of a show: an encoder such as OBS, or the camera of this browser. */
export function SourceCard({ stream }: { readonly stream: StudioStream }) {
  const params = { stream_id: stream.id };
  const hasEnded = stream.status === 'ENDED';
  const polling = hasEnded ? {} : { refetchIntervalMs: POLL_MS };
  const query = useApiQuery('readIngest', { params }, polling);
  return (
    <section
      aria-label={texts.title}
      className="grid gap-6 rounded-2xl border border-line bg-card p-4 *:min-w-0 sm:p-6"
    >
      <h2 className="text-lg font-bold">{texts.title}</h2>
      {hasEnded && <p className="text-quiet">{texts.hasEnded}</p>}
      <Loaded query={query} label={texts.loading}>
        {(ingest) =>
          !hasEnded && (
            <>
              {stream.status === 'CREATED' && ingest.source && <PreviewVideo stream={stream} />}
              {stream.status === 'CREATED' && ingest.source && <GoLive stream={stream} />}
              <SourceFacts source={ingest.source} />
              {stream.status === 'CREATED' && !ingest.source && (
                <p className="text-quiet">
                  {stream.autoStart ? texts.startsAutomatically : texts.connectForPreview}
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

const { encoder } = texts;

function Addresses({ stream, ingest: { rtmp, srt } }: { stream: StudioStream; ingest: Ingest }) {
  const [isConfirming, setConfirming] = useState(false);
  const { mutate, isPending } = useApiMutation('rotateStreamKey', {
    invalidates: ['readIngest'],
    onSuccess: () => {
      setConfirming(false);
      showSuccess(texts.replaceKey.done);
    },
  });
  return (
    <div className="grid gap-4 *:min-w-0">
      <h3 className="font-bold">{texts.encoder.title}</h3>
      {rtmp && <Address name={encoder.server} copyLabel={encoder.copyServer} text={rtmp.url} />}
      {rtmp && (
        <Address
          name={encoder.key}
          copyLabel={encoder.copyKey}
          text={rtmp.key}
          secret={{ showLabel: encoder.showKey, hideLabel: encoder.hideKey }}
        />
      )}
      {srt && (
        <Address
          name={encoder.srt}
          copyLabel={encoder.copySrt}
          text={srt.url}
          secret={{ showLabel: encoder.showSrt, hideLabel: encoder.hideSrt }}
        />
      )}
      {!rtmp && !srt && <p className="text-quiet">{encoder.disabled}</p>}
      <div>
        <Button onPress={() => setConfirming(true)} icon={<RefreshCw />}>
          {texts.replaceKey.button}
        </Button>
      </div>
      <Confirm
        title={texts.replaceKey.title}
        action={texts.replaceKey.action}
        isOpen={isConfirming}
        onOpenChange={setConfirming}
        isPending={isPending}
        onConfirm={() => mutate({ params: { stream_id: stream.id } })}
      >
        {texts.replaceKey.help}
      </Confirm>
    </div>
  );
}

interface AddressProps {
  readonly name: string;
  readonly copyLabel: string;
  readonly text: string;
  /** Hidden until requested, since hosts share their screens: labels of the button that shows it. */
  readonly secret?: { readonly showLabel: string; readonly hideLabel: string };
}

function Address({ name, copyLabel, text, secret }: AddressProps) {
  const [isShown, setShown] = useState(!secret);
  return (
    <div className="grid gap-1.5 *:min-w-0">
      <span className="text-sm font-semibold">{name}</span>
      <div className="flex items-center gap-2">
        <code className="min-h-11 min-w-0 flex-1 content-center rounded-lg bg-raised px-3 py-2 break-all">
          {isShown ? text : '•'.repeat(12)}
        </code>
        {secret && (
          <Button
            onPress={() => setShown(!isShown)}
            aria-label={isShown ? secret.hideLabel : secret.showLabel}
          >
            {isShown ? encoder.hide : encoder.show}
          </Button>
        )}
        <CopyButton label={copyLabel} text={text} />
      </div>
    </div>
  );
}
