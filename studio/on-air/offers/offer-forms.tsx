import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components';
import { CHAT_NAME_CHARS, CHAT_TEXT_CHARS, DISCOUNTS_MAX } from '../../../protocol/limits.ts';
import type { ProducerEvent } from '../../../protocol/studio.ts';
import { Button } from '../../ui/button.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { ownEventOf } from './offer.ts';

export interface OfferFormProps {
  /** What is shown is how it is; else nothing can be sent. */
  readonly isHeard: boolean;
  /** Something is being sent, or was a moment ago. */
  readonly isBusy: boolean;
  /** @param onSent called when it is sent */
  readonly onSend: (event: ProducerEvent, onSent?: () => void) => void;
}

interface OfferFieldsProps extends Omit<OfferFormProps, 'onSend'> {
  readonly onSubmit: () => void;
  readonly validation?: 'native' | 'aria';
  readonly children: ReactNode;
}

function OfferFields(props: OfferFieldsProps) {
  const { isHeard, isBusy, onSubmit, validation = 'native', children } = props;
  return (
    <Form
      className="grid gap-4"
      validationBehavior={validation}
      onSubmit={(event) => {
        event.preventDefault();
        if (isHeard && !isBusy) onSubmit();
      }}
    >
      {children}
      <div>
        <Button type="submit" isDisabled={!isHeard} isPending={isBusy}>
          Tell the viewers
        </Button>
      </div>
    </Form>
  );
}

/** Discounts that were taken. */
export function DiscountForm({ onSend, ...rest }: OfferFormProps) {
  const [count, setCount] = useState(1);
  return (
    <OfferFields {...rest} onSubmit={() => onSend({ type: 'discount', data: { count } })}>
      <NumberField
        label="Discounts that were taken"
        value={count}
        onChange={(value) => setCount(Math.round(value) || 1)}
        minValue={1}
        maxValue={DISCOUNTS_MAX}
      />
    </OfferFields>
  );
}

/** Somebody bought something. */
export function PurchaseForm({ onSend, ...rest }: OfferFormProps) {
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const data = { name: name.trim(), text: text.trim() };
  const clear = () => {
    setName('');
    setText('');
  };
  return (
    <OfferFields {...rest} onSubmit={() => onSend({ type: 'purchase', data }, clear)}>
      <div className="grid gap-4 sm:grid-cols-[1fr_2fr]">
        <TextField label="Who" value={name} onChange={setName} maxLength={CHAT_NAME_CHARS} />
        <TextField
          label="What they did"
          placeholder="bought two mugs"
          value={text}
          onChange={setText}
          maxLength={CHAT_TEXT_CHARS}
          isRequired
        />
      </div>
    </OfferFields>
  );
}

/** What an app of the producer's own knows: a type, and data if it needs any. */
export function OwnEventForm({ onSend, ...rest }: OfferFormProps) {
  const [draft, setDraft] = useState({ type: '', dataText: '' });
  const [isTried, setTried] = useState(false);
  const written = ownEventOf(draft);
  const errors = isTried && 'errors' in written ? written.errors : {};
  return (
    <OfferFields
      {...rest}
      validation="aria"
      onSubmit={() => {
        setTried(true);
        if ('event' in written) onSend(written.event);
      }}
    >
      <TextField
        label="Type"
        placeholder="lights"
        help="A name that your app listens for."
        value={draft.type}
        onChange={(type) => setDraft({ ...draft, type })}
        error={errors.type}
      />
      <TextField
        label="Data, as JSON"
        placeholder='{"colour": "red"}'
        help="An object, or nothing."
        rows={3}
        value={draft.dataText}
        onChange={(dataText) => setDraft({ ...draft, dataText })}
        error={errors.data}
      />
    </OfferFields>
  );
}
