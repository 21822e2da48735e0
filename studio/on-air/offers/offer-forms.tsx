import { type ReactNode, useState } from 'react';
import {
  CHAT_NAME_CHARS,
  CHAT_TEXT_CHARS,
  DISCOUNTS_MAX,
  QUANTITY_MAX,
} from '../../../protocol/limits.ts';
import type { Product } from '../../../protocol/products.ts';
import type { ProducerEvent } from '../../../protocol/studio.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { parseCustomEvent } from './offer.ts';
import { texts } from './texts.ts';

export interface OfferFormProps {
  readonly products: readonly Product[];
  /** Whether the connection is up; else sending is disabled. */
  readonly isConnected: boolean;
  /** Sending, or sent a moment ago. */
  readonly isBusy: boolean;
  /** @param onSent called after success */
  readonly onSend: (event: ProducerEvent, onSent?: () => void) => void;
}

interface OfferFieldsProps extends Omit<OfferFormProps, 'onSend' | 'products'> {
  readonly onSubmit: () => void;
  readonly validation?: 'native' | 'aria';
  readonly children: ReactNode;
}

function OfferFields(props: OfferFieldsProps) {
  const { isConnected, isBusy, onSubmit, validation = 'native', children } = props;
  return (
    <Form
      className="grid gap-4"
      validationBehavior={validation}
      onSubmit={() => isConnected && !isBusy && onSubmit()}
    >
      {children}
      <div>
        <Button type="submit" isDisabled={!isConnected} isPending={isBusy}>
          {texts.send}
        </Button>
      </div>
    </Form>
  );
}

/** Sends a number of redeemed discounts. */
export function DiscountForm({ products: _, onSend, ...rest }: OfferFormProps) {
  const [count, setCount] = useState(1);
  return (
    <OfferFields {...rest} onSubmit={() => onSend({ type: 'discount', data: { count } })}>
      <NumberField
        label={texts.form.discounts}
        value={count}
        onChange={(value) => setCount(Math.round(value) || 1)}
        minValue={1}
        maxValue={DISCOUNTS_MAX}
      />
    </OfferFields>
  );
}

/** Sends a purchase, which may take from the stock of a product. */
export function PurchaseForm({ products, onSend, ...rest }: OfferFormProps) {
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [productId, setProductId] = useState('');
  const [quantity, setQuantity] = useState(1);
  const isOfProduct = products.some(({ id }) => id === productId);
  const data = {
    ...{ name: name.trim(), text: text.trim() },
    ...(isOfProduct && { productId, quantity }),
  };
  // The next purchase may have been entered meanwhile.
  const clear = () => {
    setName((current) => (current === name ? '' : current));
    setText((current) => (current === text ? '' : current));
    setQuantity((current) => (current === quantity ? 1 : current));
  };
  return (
    <OfferFields {...rest} onSubmit={() => onSend({ type: 'purchase', data }, clear)}>
      <div className="grid gap-4 sm:grid-cols-[1fr_2fr]">
        <TextField
          label={texts.form.buyer}
          value={name}
          onChange={setName}
          maxLength={CHAT_NAME_CHARS}
        />
        <TextField
          label={texts.form.purchase}
          placeholder={texts.form.purchaseExample}
          value={text}
          onChange={setText}
          maxLength={CHAT_TEXT_CHARS}
          isRequired
        />
      </div>
      {products.length > 0 && (
        <div className="grid gap-4 sm:grid-cols-[2fr_1fr]">
          <Select
            label={texts.form.product}
            value={productId}
            options={[
              { value: '', text: texts.form.noProduct },
              ...products.map(({ id, name }) => ({ value: id, text: name })),
            ]}
            onChange={setProductId}
          />
          {isOfProduct && (
            <NumberField
              label={texts.form.quantity}
              value={quantity}
              onChange={(value) => setQuantity(Math.round(value) || 1)}
              minValue={1}
              maxValue={QUANTITY_MAX}
            />
          )}
        </div>
      )}
    </OfferFields>
  );
}

/** Sends a custom event for the producer's app: a type and optional data. */
export function CustomEventForm({ products: _, onSend, ...rest }: OfferFormProps) {
  const [draft, setDraft] = useState({ type: '', dataText: '' });
  const [isSubmitted, setSubmitted] = useState(false);
  const parsed = parseCustomEvent(draft);
  const errors = isSubmitted && 'errors' in parsed ? parsed.errors : {};
  return (
    <OfferFields
      {...rest}
      validation="aria"
      onSubmit={() => {
        setSubmitted(true);
        if ('event' in parsed) onSend(parsed.event);
      }}
    >
      <TextField
        label={texts.form.type}
        placeholder={texts.form.typeExample}
        help={texts.form.typeHelp}
        value={draft.type}
        onChange={(type) => setDraft({ ...draft, type })}
        error={errors.type}
      />
      <TextField
        label={texts.form.data}
        placeholder={texts.form.dataExample}
        help={texts.form.dataHelp}
        rows={3}
        value={draft.dataText}
        onChange={(dataText) => setDraft({ ...draft, dataText })}
        error={errors.data}
      />
    </OfferFields>
  );
}
