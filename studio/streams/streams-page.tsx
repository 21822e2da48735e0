import { Clapperboard, Plus } from 'lucide-react';
import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { NO_SHOW_PAGE } from '../../protocol/show-page-values.ts';
import type { NewStream, StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { takeSignInMark } from '../session/sign-in-mark.ts';
import { Page } from '../shell/page.tsx';
import { ago, dateTimeOf } from '../shell/times.ts';
import { SourceLostBadge } from '../source/source-lost-notice.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { DialogButton } from '../ui/dialog.tsx';
import { EmptyState, Loaded } from '../ui/states.tsx';
import { useWhileMounted } from '../ui/use-while-mounted.ts';
import { pathAfterSignIn, showPathOf } from './show-path.ts';
import { StreamForm } from './stream-form.tsx';
import { StreamStatus } from './stream-status.tsx';
import { texts } from './texts.ts';

const POLL_MS = 5_000;
/** Covers the delay of video at the usual settings (SPEC M-14). */
const LATENCY_ALLOWANCE_MS = 5_000;
const NEW_STREAM: NewStream = {
  title: '',
  dash_url: null,
  hls_url: null,
  unlisted: false,
  latencyAllowance: LATENCY_ALLOWANCE_MS,
  recording: true,
  autoStart: false,
  keepOpen: false,
  ...NO_SHOW_PAGE,
};

/** All shows, live ones first. */
export function StreamsPage() {
  const streams = useApiQuery('listOwnStreams', {}, { refetchIntervalMs: POLL_MS });
  const mayCreate = usePermission('createStream');
  useLiveShowAfterSignIn(streams.data?.results);
  const createButton = mayCreate && (
    <DialogButton
      variant="primary"
      icon={<Plus />}
      title={texts.list.create}
      dialog={(close) => <NewStreamForm onClose={close} />}
    >
      {texts.list.create}
    </DialogButton>
  );
  return (
    <Page title={texts.list.title} actions={createButton}>
      <Loaded query={streams} label={texts.list.loading}>
        {({ results }) => <StreamList streams={results} />}
      </Loaded>
    </Page>
  );
}

function useLiveShowAfterSignIn(shows: readonly StudioStream[] | undefined): void {
  const [, goTo] = useLocation();
  useEffect(() => {
    if (!shows || !takeSignInMark()) return;
    const path = pathAfterSignIn(shows);
    if (path !== null) goTo(path, { replace: true });
  }, [shows, goTo]);
}

function StreamList({ streams }: { readonly streams: readonly StudioStream[] }) {
  if (streams.length === 0) {
    return (
      <EmptyState icon={<Clapperboard />} title={texts.list.emptyTitle}>
        {texts.list.emptyHelp}
      </EmptyState>
    );
  }
  const liveFirst = streams.toSorted((a, b) => rankOf(a) - rankOf(b));
  return (
    <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      {liveFirst.map((stream) => (
        <li key={stream.id}>
          <Link
            href={showPathOf(stream)}
            className={classes(
              'grid h-full content-start gap-3 rounded-2xl border border-line bg-card p-4 hover:border-edge',
              FOCUS_RING,
            )}
          >
            <div className="flex items-center justify-between gap-3">
              <StreamStatus status={stream.status} />
              <span className="text-sm text-quiet">{dateLabel(stream)}</span>
            </div>
            <span dir="auto" className="text-lg font-bold wrap-anywhere">
              {stream.title}
            </span>
            <SourceLostBadge stream={stream} />
            <span className="text-sm text-quiet">
              {[stream.unlisted && texts.list.unlisted, stream.recording && texts.list.recorded]
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

function dateLabel({ started, ended, created }: StudioStream): string {
  const nowMs = Date.now();
  if (ended !== null) return dateTimeOf(started ?? ended);
  if (started !== null) return texts.list.started(ago(started, nowMs));
  return texts.list.created(ago(created, nowMs));
}

function NewStreamForm({ onClose }: { readonly onClose: () => void }) {
  const [, goTo] = useLocation();
  const { mutate, isPending } = useApiMutation('createStream', {
    invalidates: ['listOwnStreams'],
    onSuccess: useWhileMounted(({ id }: StudioStream) => goTo(`/streams/${id}`)),
  });
  return (
    <StreamForm
      initial={NEW_STREAM}
      action={texts.form.create}
      isPending={isPending}
      onSubmit={(body) => mutate({ body })}
      onCancel={onClose}
    />
  );
}
