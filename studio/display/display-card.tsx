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
import { texts } from './texts.ts';

/** Opens the display here or makes a link for another machine. */
export function DisplayCard({ streamId }: { readonly streamId: string }) {
  const mayCreate = usePermission('createPresenterKey');
  return (
    <Panel title={texts.card.title}>
      <p className="text-quiet">{texts.card.explanation}</p>
      <div>
        <a
          href={`/studio/present/${streamId}`}
          target="_blank"
          rel="noopener"
          className={`inline-flex min-h-8 items-center gap-1 underline ${FOCUS_RING}`}
        >
          {texts.card.open}
          <ExternalLink className="size-4" />
          <span className="sr-only">{texts.card.newTab}</span>
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
      showSuccess(texts.card.revoked);
    },
  });
  if (query.isPending) return <Loading label={texts.card.loading} />;
  if (!query.data) return <ErrorMessage error={query.error} onRetry={() => query.refetch()} />;
  const { created } = query.data;
  return (
    <>
      <p className="text-quiet">
        {created === null ? texts.card.noLink : texts.card.created(dateTimeOf(created))}
      </p>
      <div className="flex flex-wrap gap-3">
        <Button
          isPending={create.isPending}
          onPress={() => (created === null ? create.mutate({ params }) : setConfirming('new'))}
          icon={<Link2 />}
        >
          {created === null ? texts.card.create : texts.card.replaceButton}
        </Button>
        {created !== null && (
          <Button variant="quiet" onPress={() => setConfirming('withdraw')} icon={<Unlink />}>
            {texts.card.revokeButton}
          </Button>
        )}
      </div>
      <Confirm
        title={texts.card.replaceTitle}
        action={texts.card.replace}
        isOpen={confirming === 'new'}
        onOpenChange={() => setConfirming(null)}
        isPending={create.isPending}
        onConfirm={() => create.mutate({ params })}
      >
        {texts.card.replaceHelp}
      </Confirm>
      <Confirm
        title={texts.card.revokeTitle}
        action={texts.card.revoke}
        isOpen={confirming === 'withdraw'}
        onOpenChange={() => setConfirming(null)}
        isPending={withdraw.isPending}
        onConfirm={() => withdraw.mutate({ params })}
      >
        {texts.card.revokeHelp}
      </Confirm>
      <Dialog title={texts.newLink.title} isOpen={url !== null} onOpenChange={() => setUrl(null)}>
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
          label={texts.newLink.overlay}
          help={texts.newLink.overlayHelp}
          isSelected={isOverlay}
          onChange={setOverlay}
        />
        <Switch
          label={texts.newLink.liveBars}
          help={texts.newLink.liveBarsHelp}
          isSelected={hasLiveBars}
          onChange={setLiveBars}
        />
      </div>
      <OneTimeSecret
        copyLabel={texts.newLink.copy}
        secret={displayAddress(url, { isOverlay, hasLiveBars })}
        onClose={onClose}
      >
        {texts.newLink.shownOnce}
      </OneTimeSecret>
    </>
  );
}
