import { useState } from 'react';
import { type NewWebhook, WEBHOOK_EVENTS } from '../../protocol/webhooks.ts';
import { StudioProblem } from '../api/studio-problem.ts';
import { CheckboxGroup } from '../ui/checkbox-group.tsx';
import { DialogForm } from '../ui/dialog-form.tsx';
import { TextField } from '../ui/text-field.tsx';
import { TYPE_WORDS } from './webhook-words.ts';

const EVENTS = WEBHOOK_EVENTS.map((value) => ({ value, text: TYPE_WORDS[value] }));
const URL_CHARS = 2_048;

type Fields = Pick<NewWebhook, 'url' | 'events'>;

interface WebhookFormProps {
  readonly initial: Fields;
  /** What the button does, as a verb. */
  readonly action: string;
  readonly isPending: boolean;
  /** Why what was sent was refused; null: it was not. */
  readonly failure: unknown;
  readonly onSubmit: (fields: Fields) => void;
  readonly onCancel: () => void;
}

/** Where to tell what. */
export function WebhookForm({ initial, failure, onSubmit, ...rest }: WebhookFormProps) {
  const [url, setUrl] = useState(initial.url);
  const [events, setEvents] = useState(initial.events);
  /** The address that was refused: another one may be right. */
  const [tried, setTried] = useState<string | null>(null);
  const refusal = url === tried ? urlRefusal(failure) : undefined;
  return (
    <DialogForm
      {...rest}
      onSubmit={() => {
        setTried(url);
        onSubmit({ url, events });
      }}
    >
      <TextField
        label="Address"
        help="Where a program of yours takes POST requests."
        placeholder="https://"
        type="url"
        value={url}
        onChange={setUrl}
        maxLength={URL_CHARS}
        error={refusal}
        isRequired
        autoFocus
      />
      <CheckboxGroup
        label="What it is told"
        options={EVENTS}
        value={events}
        onChange={(chosen) => setEvents(WEBHOOK_EVENTS.filter((event) => chosen.includes(event)))}
        isRequired
      />
    </DialogForm>
  );
}

/** What the service says of an address that it does not take. */
export function urlRefusal(failure: unknown): string | undefined {
  if (!(failure instanceof StudioProblem) || !failure.detail.startsWith('url')) return undefined;
  return failure.detail.replace(/^url:? /, 'The address ');
}
