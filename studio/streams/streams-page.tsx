import { Clapperboard, Plus } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { NewStream, StudioStream } from '../../protocol/studio.ts';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { useMay } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { ago, dateOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { StreamForm } from './stream-form.tsx';
import { StreamStatus } from './stream-status.tsx';

const AGAIN_MS = 5_000;
const NEW: NewStream = {
  title: '',
  dash_url: null,
  hls_url: null,
  unlisted: false,
  latencyAllowance: 2_000,
  recording: true,
};

/** All shows: what is live comes first. */
export function StreamsPage() {
  const streams = useRead('listOwnStreams', {}, { againMs: AGAIN_MS });
  const [isMaking, setMaking] = useState(false);
  const mayMake = useMay('createStream');
  const make = mayMake && (
    <Button look="primary" onPress={() => setMaking(true)}>
      <Plus aria-hidden="true" />
      New show
    </Button>
  );
  return (
    <Page title="Shows" actions={make}>
      {streams.isPending && <Loading what="Looking for your shows" />}
      {streams.isError && !streams.data && (
        <Failure error={streams.error} onAgain={() => streams.refetch()} />
      )}
      {streams.data?.results.length === 0 && (
        <Empty icon={<Clapperboard aria-hidden="true" />} title="No shows yet">
          A show has a page for its viewers, quizzes, a chat and a place to send the picture to.
        </Empty>
      )}
      {streams.data && <StreamList streams={streams.data.results} />}
      <NewStreamDialog isOpen={isMaking} onOpenChange={setMaking} />
    </Page>
  );
}

function StreamList({ streams }: { readonly streams: readonly StudioStream[] }) {
  const liveFirst = streams.toSorted((a, b) => rankOf(a) - rankOf(b));
  return (
    <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {liveFirst.map((stream) => (
        <li key={stream.id}>
          <Link
            href={`/streams/${stream.id}`}
            className={classes(
              'grid h-full content-start gap-3 rounded-2xl border border-line bg-card p-4 hover:border-edge',
              FOCUS_RING,
            )}
          >
            <div className="flex items-center justify-between gap-3">
              <StreamStatus status={stream.status} />
              <span className="text-sm text-quiet">{whenOf(stream)}</span>
            </div>
            <span className="text-lg font-bold break-words">{stream.title}</span>
            <span className="text-sm text-quiet">
              {[stream.unlisted && 'Unlisted', stream.recording && 'Recorded']
                .filter(Boolean)
                .join(' · ')}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const rankOf = ({ status }: StudioStream) => ['STREAMING', 'CREATED', 'ENDED'].indexOf(status);

function whenOf({ started, ended, created }: StudioStream): string {
  const nowMs = Date.now();
  if (ended !== null) return dateOf(started ?? ended);
  if (started !== null) return `since ${ago(started, nowMs)}`;
  return `made ${ago(created, nowMs)}`;
}

interface NewStreamDialogProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

function NewStreamDialog({ isOpen, onOpenChange }: NewStreamDialogProps) {
  const [, goTo] = useLocation();
  const { write, isPending } = useWrite('createStream', {
    stale: ['listOwnStreams'],
    onDone: ({ id }) => goTo(`/streams/${id}`),
  });
  return (
    <Dialog title="New show" isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => (
        <StreamForm
          initial={NEW}
          action="Make it"
          isPending={isPending}
          onSubmit={(body) => write({ body })}
          onCancel={close}
        />
      )}
    </Dialog>
  );
}
