import { useState } from 'react';
import { LATENCY_ALLOWANCE_MAX_MS } from '../../protocol/limits.ts';
import type { NewStream } from '../../protocol/studio.ts';
import { DialogForm } from '../ui/dialog-form.tsx';
import { FormSection } from '../ui/form-section.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';
import { ShowPageFields } from './show-page-fields.tsx';

interface StreamFormProps {
  readonly initial: NewStream;
  /** Label of the submit button. */
  readonly action: string;
  readonly isPending: boolean;
  readonly onSubmit: (stream: NewStream) => void;
  readonly onCancel: () => void;
}

export function StreamForm({ initial, action, isPending, onSubmit, onCancel }: StreamFormProps) {
  const [stream, setStream] = useState(initial);
  const change = (part: Partial<NewStream>) => setStream({ ...stream, ...part });
  return (
    <DialogForm
      action={action}
      fields={stream}
      isPending={isPending}
      onSubmit={() => onSubmit(stream)}
      onCancel={onCancel}
    >
      <TextField
        label="Title"
        value={stream.title}
        onChange={(title) => change({ title })}
        maxLength={200}
        isRequired
        autoFocus
      />
      <Switch
        label="Start with the video source"
        help="For encoders that run alone. Otherwise you see a preview and decide when to go live."
        isSelected={stream.autoStart}
        onChange={(autoStart) => change({ autoStart })}
      />
      <Switch
        label="Keep open without video"
        help="Otherwise the show ends when its video source does not return."
        isSelected={stream.keepOpen}
        onChange={(keepOpen) => change({ keepOpen })}
      />
      <Switch
        label="Record the show"
        help="Viewers can watch the whole show after it ends."
        isSelected={stream.recording}
        onChange={(recording) => change({ recording })}
      />
      <Switch
        label="Unlisted"
        help="Only people with the link can find it."
        isSelected={stream.unlisted}
        onChange={(unlisted) => change({ unlisted })}
      />
      <NumberField
        label="Latency allowance, seconds"
        help="Extra time for every quiz, for viewers with a delayed video."
        value={stream.latencyAllowance / 1_000}
        onChange={(seconds) => change({ latencyAllowance: Math.round(seconds * 1_000) || 0 })}
        minValue={0}
        maxValue={LATENCY_ALLOWANCE_MAX_MS / 1_000}
        step={0.5}
      />
      <ShowPageFields page={stream} onChange={change} />
      <ExternalVideo stream={stream} onChange={change} />
    </DialogForm>
  );
}

interface ExternalVideoProps {
  readonly stream: NewStream;
  readonly onChange: (part: Partial<NewStream>) => void;
}

function ExternalVideo({ stream, onChange }: ExternalVideoProps) {
  const urlOrNull = (url: string) => (url === '' ? null : url);
  return (
    <FormSection
      title="Use an external video"
      isOpenAtFirst={stream.hls_url !== null || stream.dash_url !== null}
    >
      <TextField
        label="HLS playlist URL"
        type="url"
        value={stream.hls_url ?? ''}
        onChange={(url) => onChange({ hls_url: urlOrNull(url) })}
      />
      <TextField
        label="DASH manifest URL"
        type="url"
        value={stream.dash_url ?? ''}
        onChange={(url) => onChange({ dash_url: urlOrNull(url) })}
      />
    </FormSection>
  );
}
