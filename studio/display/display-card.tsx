import { ExternalLink, Link2, Unlink } from 'lucide-react';
import { useState } from 'react';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { dateTimeOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { OneTimeSecret } from '../ui/one-time-secret.tsx';
import { Panel } from '../ui/panel.tsx';
import { ErrorMessage, Loading } from '../ui/states.tsx';
import { Switch } from '../ui/switch.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { displayAddress } from './display-options.ts';

/** Opens the display here or makes a link for another machine. */
export function DisplayCard({ streamId }: { readonly streamId: string }) {
  const mayCreate = usePermission('createPresenterKey');
  return (
    <Panel title="Display">
      <p className="text-quiet">
        Shows the question, countdown and results on a screen on stage, or over your video in OBS.
      </p>
      <div>
        <a
          href={`/studio/present/${streamId}`}
          target="_blank"
          rel="noopener"
          className={`inline-flex min-h-8 items-center gap-1 underline ${FOCUS_RING}`}
        >
          Open the display
          <ExternalLink className="size-4" />
          <span className="sr-only">(opens a new tab)</span>
        </a>
      </div>
      {mayCreate && <DisplayLink streamId={streamId} />}
    </Panel>
  );
}

const INVALIDATED = ['readPresenterKey'] as const;

function DisplayLink({ streamId }: { readonly streamId: string }) {
  const params = { stream_id: streamId };
  const query = useApiQuery('readPresenterKey', { params });
  const [confirming, setConfirming] = useState<'new' | 'withdraw' | null>(null);
  const [url, setUrl] = useState<string | null>(null);
  const create = useApiMutation('createPresenterKey', {
    invalidates: INVALIDATED,
    onSuccess: (created) => {
      setConfirming(null);
      setUrl(created.url);
    },
  });
  const withdraw = useApiMutation('withdrawPresenterKey', {
    invalidates: INVALIDATED,
    onSuccess: () => {
      setConfirming(null);
      showSuccess('The link no longer works.');
    },
  });
  if (query.isPending) return <Loading label="Loading link" />;
  if (!query.data) return <ErrorMessage error={query.error} onRetry={() => query.refetch()} />;
  const { created } = query.data;
  return (
    <>
      <p className="text-quiet">
        {created === null
          ? 'To open the display on another machine, create a link. Anyone with the link can see the display, and nothing else.'
          : `Link created ${dateTimeOf(created)}.`}
      </p>
      <div className="flex flex-wrap gap-3">
        <Button
          isPending={create.isPending}
          onPress={() => (created === null ? create.mutate({ params }) : setConfirming('new'))}
          icon={<Link2 />}
        >
          {created === null ? 'Create link' : 'Replace link'}
        </Button>
        {created !== null && (
          <Button variant="quiet" onPress={() => setConfirming('withdraw')} icon={<Unlink />}>
            Revoke link
          </Button>
        )}
      </div>
      <Confirm
        title="Replace the link?"
        action="Replace"
        isOpen={confirming === 'new'}
        onOpenChange={() => setConfirming(null)}
        isPending={create.isPending}
        onConfirm={() => create.mutate({ params })}
      >
        The old link stops working. Open the new one on every screen that uses it.
      </Confirm>
      <Confirm
        title="Revoke the link?"
        action="Revoke"
        isOpen={confirming === 'withdraw'}
        onOpenChange={() => setConfirming(null)}
        isPending={withdraw.isPending}
        onConfirm={() => withdraw.mutate({ params })}
      >
        Displays that use the link go blank within two seconds.
      </Confirm>
      <Dialog title="Display link" isOpen={url !== null} onOpenChange={() => setUrl(null)}>
        {(close) => url !== null && <NewLink url={url} onClose={close} />}
      </Dialog>
    </>
  );
}

function NewLink({ url, onClose }: { readonly url: string; readonly onClose: () => void }) {
  const [isOverlay, setOverlay] = useState(false);
  const [hasLiveBars, setLiveBars] = useState(false);
  return (
    <>
      <div className="grid gap-1">
        <Switch
          label="Transparent background"
          help="For an OBS browser source, for example 1920 × 1080."
          isSelected={isOverlay}
          onChange={setOverlay}
        />
        <Switch
          label="Live answer counts"
          help="Everyone who sees the display sees the answers while the quiz is open."
          isSelected={hasLiveBars}
          onChange={setLiveBars}
        />
      </div>
      <OneTimeSecret
        copyLabel="Copy the link"
        secret={displayAddress(url, { isOverlay, hasLiveBars })}
        onClose={onClose}
      >
        Copy the link now. It is not shown again. Links with other settings work at the same time.
      </OneTimeSecret>
    </>
  );
}
