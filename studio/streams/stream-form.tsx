import { useState } from 'react';
import { Disclosure, DisclosurePanel, Heading, Button as PlainButton } from 'react-aria-components';
import { LATENCY_ALLOWANCE_MAX_MS } from '../../protocol/limits.ts';
import type { NewStream } from '../../protocol/studio.ts';
import { FOCUS_RING } from '../ui/classes.ts';
import { DialogForm } from '../ui/dialog-form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Switch } from '../ui/switch.tsx';
import { TextField } from '../ui/text-field.tsx';

interface StreamFormProps {
  readonly initial: NewStream;
  /** What the button says. */
  readonly action: string;
  readonly isPending: boolean;
  readonly onSubmit: (stream: NewStream) => void;
  readonly onCancel: () => void;
}

/** What a stream is, before and after it is made. */
export function StreamForm({ initial, action, isPending, onSubmit, onCancel }: StreamFormProps) {
  const [stream, setStream] = useState(initial);
  const change = (part: Partial<NewStream>) => setStream({ ...stream, ...part });
  return (
    <DialogForm
      action={action}
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
        label="Keep a recording"
        help="The whole show can be watched after its end."
        isSelected={stream.recording}
        onChange={(recording) => change({ recording })}
      />
      <Switch
        label="Unlisted"
        help="Only who has the address finds it."
        isSelected={stream.unlisted}
        onChange={(unlisted) => change({ unlisted })}
      />
      <NumberField
        label="Latency allowance, seconds"
        help="Added to every quiz, for viewers whose picture comes late."
        value={stream.latencyAllowance / 1_000}
        onChange={(seconds) => change({ latencyAllowance: Math.round(seconds * 1_000) || 0 })}
        minValue={0}
        maxValue={LATENCY_ALLOWANCE_MAX_MS / 1_000}
        step={0.5}
      />
      <OtherAddresses stream={stream} onChange={change} />
    </DialogForm>
  );
}

interface OtherAddressesProps {
  readonly stream: NewStream;
  readonly onChange: (part: Partial<NewStream>) => void;
}

function OtherAddresses({ stream, onChange }: OtherAddressesProps) {
  const address = (url: string) => (url === '' ? null : url);
  return (
    <Disclosure defaultExpanded={stream.hls_url !== null || stream.dash_url !== null}>
      <Heading level={3}>
        <PlainButton slot="trigger" className={`min-h-11 font-semibold underline ${FOCUS_RING}`}>
          The picture comes from elsewhere
        </PlainButton>
      </Heading>
      <DisclosurePanel className="grid gap-5 pt-2">
        <TextField
          label="Address of the HLS playlist"
          type="url"
          value={stream.hls_url ?? ''}
          onChange={(url) => onChange({ hls_url: address(url) })}
        />
        <TextField
          label="Address of the DASH manifest"
          type="url"
          value={stream.dash_url ?? ''}
          onChange={(url) => onChange({ dash_url: address(url) })}
        />
      </DisclosurePanel>
    </Disclosure>
  );
}
