import { ExternalLink, Link2, Unlink } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { useMay } from '../session/session-context.ts';
import { dateOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Panel } from '../ui/panel.tsx';
import { ShownOnce } from '../ui/shown-once.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { Switch } from '../ui/switch.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { presenterAddress } from './presenter-address.ts';

/** The show for the wall behind its host: to be opened here, or by a link on another machine. */
export function PresenterCard({ streamId }: { readonly streamId: string }) {
  const mayMake = useMay('createPresenterKey');
  return (
    <Panel title="Presenter view">
      <p className="text-quiet">
        The question, the countdown and the results in large: for the wall behind the host, or over
        your picture in OBS.
      </p>
      <div>
        <a
          href={`/studio/present/${streamId}`}
          target="_blank"
          rel="noopener"
          className={`inline-flex min-h-8 items-center gap-1 underline ${FOCUS_RING}`}
        >
          Open it here
          <ExternalLink className="size-4" aria-hidden="true" />
          <span className="sr-only">(opens a new tab)</span>
        </a>
      </div>
      {mayMake && <LinkOfView streamId={streamId} />}
    </Panel>
  );
}

const STALE = ['readPresenterKey'] as const;

function LinkOfView({ streamId }: { readonly streamId: string }) {
  const params = { stream_id: streamId };
  const read = useRead('readPresenterKey', { params });
  const [asks, setAsks] = useState<'new' | 'withdraw' | null>(null);
  const [url, setUrl] = useState<string | null>(null);
  const make = useWrite('createPresenterKey', {
    stale: STALE,
    onDone: (made) => {
      setAsks(null);
      setUrl(made.url);
    },
  });
  const withdraw = useWrite('withdrawPresenterKey', {
    stale: STALE,
    onDone: () => {
      setAsks(null);
      tellDone('The link shows nothing any more.');
    },
  });
  if (read.isPending) return <Loading what="Looking for a link" />;
  if (!read.data) return <Failure error={read.error} onAgain={() => read.refetch()} />;
  const { created } = read.data;
  return (
    <>
      <p className="text-quiet">
        {created === null
          ? 'Another machine needs a link: it shows this view to whoever has it, and opens nothing else.'
          : `A link was made on ${dateOf(created)}.`}
      </p>
      <div className="flex flex-wrap gap-3">
        <Button
          isPending={make.isPending}
          onPress={() => (created === null ? make.write({ params }) : setAsks('new'))}
        >
          <Link2 aria-hidden="true" />
          {created === null ? 'Make a link' : 'New link'}
        </Button>
        {created !== null && (
          <Button look="quiet" onPress={() => setAsks('withdraw')}>
            <Unlink aria-hidden="true" />
            Withdraw
          </Button>
        )}
      </div>
      <Confirm
        title="Make a new link?"
        action="Make a new link"
        isOpen={asks === 'new'}
        onOpenChange={() => setAsks(null)}
        isPending={make.isPending}
        onConfirm={() => make.write({ params })}
      >
        The link that was made before shows nothing from then on: open the new one wherever it is in
        use.
      </Confirm>
      <Confirm
        title="Withdraw the link?"
        action="Withdraw it"
        isOpen={asks === 'withdraw'}
        onOpenChange={() => setAsks(null)}
        isPending={withdraw.isPending}
        onConfirm={() => withdraw.write({ params })}
      >
        Wherever it is open, the view goes away within two seconds.
      </Confirm>
      <Dialog
        title="Link of the presenter view"
        isOpen={url !== null}
        onOpenChange={() => setUrl(null)}
      >
        {(close) => url !== null && <NewLink url={url} onEnd={close} />}
      </Dialog>
    </>
  );
}

function NewLink({ url, onEnd }: { readonly url: string; readonly onEnd: () => void }) {
  const [isOverlay, setOverlay] = useState(false);
  const [hasLiveBars, setLiveBars] = useState(false);
  return (
    <>
      <div className="grid gap-1">
        <Switch
          label="Over a picture"
          help="Nothing behind it: for a browser source in OBS, such as 1920 × 1080."
          isSelected={isOverlay}
          onChange={setOverlay}
        />
        <Switch
          label="Bars while viewers answer"
          help="Whoever sees the wall then sees what the others chose."
          isSelected={hasLiveBars}
          onChange={setLiveBars}
        />
      </div>
      <ShownOnce
        what="link"
        secret={presenterAddress(url, { isOverlay, hasLiveBars })}
        onEnd={onEnd}
      >
        Copy it now: it is not shown again. Both kinds of it may be in use at once.
      </ShownOnce>
    </>
  );
}
