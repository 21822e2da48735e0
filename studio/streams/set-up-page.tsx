import { Pencil, Play, Square } from 'lucide-react';
import { useState } from 'react';
import type { StudioStream } from '../../protocol/studio.ts';
import { useWrite } from '../api/use-write.ts';
import { PresenterCard } from '../present/presenter-card.tsx';
import { useMay } from '../session/session-context.ts';
import { dateOf } from '../shell/times.ts';
import { SourceCard } from '../source/source-card.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { StreamForm } from './stream-form.tsx';
import { StreamPage } from './stream-page.tsx';

/** A show before it is on air: what it is, and where its picture comes from. */
export function SetUpPage({ streamId }: { readonly streamId: string }) {
  const maySend = useMay('readIngest');
  const mayStart = useMay('startStream');
  return (
    <StreamPage
      streamId={streamId}
      actions={(stream) => mayStart && <StartAndEnd stream={stream} />}
    >
      {(stream) => (
        <div className="grid items-start gap-6 *:min-w-0 lg:grid-cols-[3fr_2fr] xl:grid-cols-[2fr_1fr]">
          {maySend && <SourceCard stream={stream} />}
          <div className="grid gap-6 *:min-w-0">
            <Facts stream={stream} />
            <PresenterCard streamId={stream.id} />
          </div>
        </div>
      )}
    </StreamPage>
  );
}

const STALE = ['readOwnStream', 'listOwnStreams'] as const;

function StartAndEnd({ stream }: { readonly stream: StudioStream }) {
  const [isEnding, setEnding] = useState(false);
  const params = { stream_id: stream.id };
  const start = useWrite('startStream', {
    stale: STALE,
    onDone: () => tellDone('The show has begun.'),
  });
  const end = useWrite('endStream', { stale: STALE, onDone: () => setEnding(false) });
  if (stream.status === 'ENDED') return null;
  if (stream.status === 'CREATED') {
    return (
      <Button look="primary" isPending={start.isPending} onPress={() => start.write({ params })}>
        <Play aria-hidden="true" />
        Start the show
      </Button>
    );
  }
  return (
    <>
      <Button look="danger" onPress={() => setEnding(true)}>
        <Square aria-hidden="true" />
        End the show
      </Button>
      <Confirm
        title="End the show?"
        action="End it"
        isOpen={isEnding}
        onOpenChange={setEnding}
        isPending={end.isPending}
        onConfirm={() => end.write({ params, body: {} })}
      >
        The picture stops for everybody, and no quiz can be sent any more. A show that is over
        cannot be started again.
      </Confirm>
    </>
  );
}

function Facts({ stream }: { readonly stream: StudioStream }) {
  const [isChanging, setChanging] = useState(false);
  const mayChange = useMay('patchStream');
  const { write, isPending } = useWrite('patchStream', {
    stale: STALE,
    onDone: () => setChanging(false),
  });
  const facts = [
    ['Made', dateOf(stream.created)],
    ['Began', stream.started === null ? 'not yet' : dateOf(stream.started)],
    ...(stream.ended === null ? [] : [['Ended', dateOf(stream.ended)]]),
    ['Recording', stream.recording ? 'kept' : 'not kept'],
    ['Listed', stream.unlisted ? 'no, only by its address' : 'yes'],
    ['Latency allowance', `${stream.latencyAllowance / 1_000} s`],
  ];
  const { title, dash_url, hls_url, unlisted, latencyAllowance, recording } = stream;
  return (
    <section aria-label="About the show" className="rounded-2xl border border-line bg-card p-4">
      <div className="flex items-center justify-between">
        <h2 className="text-lg font-bold">About the show</h2>
        {mayChange && (
          <Button look="quiet" onPress={() => setChanging(true)}>
            <Pencil aria-hidden="true" />
            Change
          </Button>
        )}
      </div>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 pt-2">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-quiet">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Dialog title="Change the show" isOpen={isChanging} onOpenChange={setChanging}>
        {(close) => (
          <StreamForm
            initial={{ title, dash_url, hls_url, unlisted, latencyAllowance, recording }}
            action="Keep"
            isPending={isPending}
            onSubmit={(body) => write({ params: { stream_id: stream.id }, body })}
            onCancel={close}
          />
        )}
      </Dialog>
    </section>
  );
}
