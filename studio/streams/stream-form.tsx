import { useState } from 'react';
import { LATENCY_ALLOWANCE_MAX_MS } from '../../protocol/limits.ts';
import type { NewStream } from '../../protocol/studio.ts';
import { DialogForm } from '../ui/dialog-form.tsx';
import { FormSection } from '../ui/form-section.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';
import { ShowPageFields } from './show-page-fields.tsx';
import { texts } from './texts.ts';

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
        label={texts.form.title}
        value={stream.title}
        onChange={(title) => change({ title })}
        maxLength={200}
        isRequired
        autoFocus
      />
      <Switch
        label={texts.form.autoStart}
        help={texts.form.autoStartHelp}
        isSelected={stream.autoStart}
        onChange={(autoStart) => change({ autoStart })}
      />
      <Switch
        label={texts.form.keepOpen}
        help={texts.form.keepOpenHelp}
        isSelected={stream.keepOpen}
        onChange={(keepOpen) => change({ keepOpen })}
      />
      <Switch
        label={texts.form.recording}
        help={texts.form.recordingHelp}
        isSelected={stream.recording}
        onChange={(recording) => change({ recording })}
      />
      <Switch
        label={texts.form.unlisted}
        help={texts.form.unlistedHelp}
        isSelected={stream.unlisted}
        onChange={(unlisted) => change({ unlisted })}
      />
      <NumberField
        label={texts.form.latencyAllowance}
        help={texts.form.latencyAllowanceHelp}
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
      title={texts.form.externalVideo}
      isOpenAtFirst={stream.hls_url !== null || stream.dash_url !== null}
    >
      <TextField
        label={texts.form.hlsUrl}
        type="url"
        value={stream.hls_url ?? ''}
        onChange={(url) => onChange({ hls_url: urlOrNull(url) })}
      />
      <TextField
        label={texts.form.dashUrl}
        type="url"
        value={stream.dash_url ?? ''}
        onChange={(url) => onChange({ dash_url: urlOrNull(url) })}
      />
    </FormSection>
  );
}
