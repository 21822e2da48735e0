import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import type { Ingest } from '../../protocol/ingest.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { CameraCard } from './camera-card.tsx';
import { SourceFacts } from './source-facts.tsx';

const AGAIN_MS = 2_000;

/** Where the picture comes from: a program such as OBS, or the camera of this browser. */
export function SourceCard({ stream }: { readonly stream: StudioStream }) {
  const params = { stream_id: stream.id };
  const isOver = stream.status === 'ENDED';
  const ingest = useRead('readIngest', { params }, isOver ? {} : { againMs: AGAIN_MS });
  return (
    <section
      aria-label="Picture"
      className="grid gap-6 rounded-2xl border border-line bg-card p-4 *:min-w-0 sm:p-6"
    >
      <h2 className="text-lg font-bold">Picture</h2>
      {ingest.isPending && <Loading what="Looking for the source" />}
      {ingest.isError && !ingest.data && (
        <Failure error={ingest.error} onAgain={() => ingest.refetch()} />
      )}
      {isOver && <p className="text-quiet">The show is over; nothing can be sent any more.</p>}
      {ingest.data && !isOver && (
        <>
          <SourceFacts source={ingest.data.source} />
          {stream.status === 'CREATED' && (
            <p className="text-quiet">The show begins as soon as a picture comes.</p>
          )}
          <CameraCard stream={stream} ingest={ingest.data} />
          <Addresses stream={stream} ingest={ingest.data} />
        </>
      )}
    </section>
  );
}

interface AddressesProps {
  readonly stream: StudioStream;
  readonly ingest: Ingest;
}

function Addresses({ stream, ingest: { rtmp, srt } }: AddressesProps) {
  const [isChanging, setChanging] = useState(false);
  const { write, isPending } = useWrite('rotateStreamKey', {
    stale: ['readIngest'],
    onDone: () => {
      setChanging(false);
      tellDone('The old key is refused from now on.');
    },
  });
  return (
    <div className="grid gap-4 *:min-w-0">
      <h3 className="font-bold">From OBS or another program</h3>
      {rtmp && <Address name="Server (RTMP)" what="server" text={rtmp.url} />}
      {rtmp && <Address name="Stream key" what="stream key" text={rtmp.key} isSecret />}
      {srt && <Address name="SRT, with the key in it" what="SRT address" text={srt.url} isSecret />}
      {!rtmp && !srt && <p className="text-quiet">This service takes no RTMP and no SRT.</p>}
      <div>
        <Button onPress={() => setChanging(true)}>
          <RefreshCw aria-hidden="true" />
          New stream key
        </Button>
      </div>
      <Confirm
        title="Make a new stream key?"
        action="Make a new key"
        isOpen={isChanging}
        onOpenChange={setChanging}
        isPending={isPending}
        onConfirm={() => write({ params: { stream_id: stream.id } })}
      >
        The old key is refused from then on. A source that is on air with it goes on until it stops.
      </Confirm>
    </div>
  );
}

interface AddressProps {
  readonly name: string;
  readonly what: string;
  readonly text: string;
  /** Not shown until somebody asks for it: screens are shared. */
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
