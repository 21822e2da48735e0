import { Pencil, Play } from 'lucide-react';
import { useState } from 'react';
import { showPageOf } from '../../protocol/show-page-values.ts';
import type { NewStream, StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { DisplayCard } from '../display/display-card.tsx';
import { ProductsCard } from '../products/products-card.tsx';
import { usePermission } from '../session/session-context.ts';
import { dateTimeOf } from '../shell/times.ts';
import { SourceCard } from '../source/source-card.tsx';
import { Button } from '../ui/button.tsx';
import { changedFields } from '../ui/changed-fields.ts';
import { Dialog } from '../ui/dialog.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { EndShow } from './end-show.tsx';
import { externalVideoOf } from './external-video.ts';
import { ShareCard } from './share-card.tsx';
import { StreamForm } from './stream-form.tsx';
import { StreamPage } from './stream-page.tsx';
import { texts } from './texts.ts';
import { useStartShow } from './use-start-show.tsx';

/** The settings, video source and display of a show. */
export function SetUpPage({ streamId }: { readonly streamId: string }) {
  const mayReadSource = usePermission('readIngest');
  const mayStart = usePermission('startStream');
  return (
    <StreamPage
      streamId={streamId}
      actions={(stream) => mayStart && <StartAndEnd stream={stream} />}
    >
      {(stream) => (
        <div className="grid items-start gap-6 *:min-w-0 lg:grid-cols-[3fr_2fr] xl:grid-cols-[2fr_1fr]">
          <div className="grid gap-6 *:min-w-0">
            {mayReadSource && <SourceCard stream={stream} />}
            <ProductsCard streamId={stream.id} />
          </div>
          <div className="grid gap-6 *:min-w-0">
            <Facts stream={stream} />
            <ShareCard stream={stream} />
            <DisplayCard streamId={stream.id} />
          </div>
        </div>
      )}
    </StreamPage>
  );
}

const INVALIDATED = ['readOwnStream', 'listOwnStreams'] as const;

function StartAndEnd({ stream }: { readonly stream: StudioStream }) {
  const params = { stream_id: stream.id };
  // The preview of a connected source has the button.
  const ingest = useApiQuery('readIngest', { params });
  const { start, isPending, dialog } = useStartShow(stream, {
    hasSource: false,
    onSuccess: () => showSuccess(texts.start.done),
  });
  if (stream.status !== 'CREATED') return <EndShow stream={stream} />;
  if (ingest.data?.source) return null;
  return (
    <>
      <Button variant="primary" isPending={isPending} onPress={start} icon={<Play />}>
        {texts.start.action}
      </Button>
      {dialog}
    </>
  );
}

function Facts({ stream }: { readonly stream: StudioStream }) {
  const [isEditing, setEditing] = useState(false);
  const mayChange = usePermission('patchStream');
  const facts = [
    [texts.facts.created, dateTimeOf(stream.created)],
    [
      texts.facts.started,
      stream.started === null ? texts.facts.notStarted : dateTimeOf(stream.started),
    ],
    ...(stream.ended === null ? [] : [[texts.facts.ended, dateTimeOf(stream.ended)]]),
    ...(stream.startsAt === null ? [] : [[texts.facts.announced, dateTimeOf(stream.startsAt)]]),
    [
      texts.facts.starts,
      stream.autoStart ? texts.facts.startsWithSource : texts.facts.startsByHost,
    ],
    [texts.facts.recording, stream.recording ? texts.facts.recordingOn : texts.facts.recordingOff],
    [texts.facts.listed, stream.unlisted ? texts.facts.listedNo : texts.facts.listedYes],
    [texts.facts.latencyAllowance, texts.facts.seconds(stream.latencyAllowance / 1_000)],
  ];
  return (
    <section aria-label={texts.facts.title} className="rounded-2xl border border-line bg-card p-4">
      <div className="flex items-center justify-between">
        <h2 className="text-lg font-bold">{texts.facts.title}</h2>
        {mayChange && (
          <Button variant="quiet" onPress={() => setEditing(true)} icon={<Pencil />}>
            {texts.facts.edit}
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
      <Dialog title={texts.facts.editTitle} isOpen={isEditing} onOpenChange={setEditing}>
        {(close) => <EditStreamForm stream={stream} onClose={close} />}
      </Dialog>
    </section>
  );
}

interface EditStreamFormProps {
  readonly stream: StudioStream;
  readonly onClose: () => void;
}

function EditStreamForm({ stream, onClose }: EditStreamFormProps) {
  const { mutate, isPending } = useApiMutation('patchStream', {
    invalidates: INVALIDATED,
    onSuccess: onClose,
  });
  // The page reads the stream again while the form is open.
  const [initial] = useState(() => editedFieldsOf(stream));
  const save = (fields: NewStream) => {
    const body = changedFields(initial, fields);
    if (body) mutate({ params: { stream_id: stream.id }, body });
    else onClose();
  };
  return (
    <StreamForm
      initial={initial}
      action={texts.facts.save}
      isPending={isPending}
      onSubmit={save}
      onCancel={onClose}
    />
  );
}

function editedFieldsOf(stream: StudioStream): NewStream {
  const { title, unlisted, latencyAllowance, recording, autoStart, keepOpen } = stream;
  return {
    ...{ title, unlisted, latencyAllowance, recording, autoStart, keepOpen },
    ...externalVideoOf(stream),
    ...showPageOf(stream),
  };
}
