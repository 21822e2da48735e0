import { useState } from 'react';
import { type NewWebhook, WEBHOOK_EVENTS } from '../../protocol/webhooks.ts';
import { CheckboxGroup } from '../ui/checkbox-group.tsx';
import { DialogForm } from '../ui/dialog-form.tsx';
import { TextField } from '../ui/text-field.tsx';
import { texts } from './texts.ts';
import { urlErrorOf } from './url-error.ts';

const EVENTS = WEBHOOK_EVENTS.map((value) => ({ value, text: texts.events[value] }));
const URL_CHARS = 2_048;

export type WebhookFields = Pick<NewWebhook, 'url' | 'events'>;

interface WebhookFormProps {
  readonly initial: WebhookFields;
  /** Label of the submit button, a verb. */
  readonly action: string;
  readonly isPending: boolean;
  /** The error of the last submission; null: none. */
  readonly error: unknown;
  readonly onSubmit: (fields: WebhookFields) => void;
  readonly onCancel: () => void;
}

/** The URL and event types of a webhook. */
export function WebhookForm({ initial, error, onSubmit, ...rest }: WebhookFormProps) {
  const [url, setUrl] = useState(initial.url);
  const [events, setEvents] = useState(initial.events);
  /** The URL that was submitted; an error about it does not apply to another one. */
  const [submittedUrl, setSubmittedUrl] = useState<string | null>(null);
  const urlError = url === submittedUrl ? urlErrorOf(error) : undefined;
  return (
    <DialogForm
      {...rest}
      fields={{ url, events }}
      onSubmit={() => {
        setSubmittedUrl(url);
        onSubmit({ url, events });
      }}
    >
      <TextField
        label={texts.form.url}
        help={texts.form.urlHelp}
        placeholder="https://"
        type="url"
        value={url}
        onChange={setUrl}
        maxLength={URL_CHARS}
        error={urlError}
        isRequired
        autoFocus
      />
      <CheckboxGroup
        label={texts.form.events}
        options={EVENTS}
        value={events}
        onChange={(chosen) => setEvents(WEBHOOK_EVENTS.filter((event) => chosen.includes(event)))}
        isRequired
      />
    </DialogForm>
  );
}
