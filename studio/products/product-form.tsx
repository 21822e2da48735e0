import { useMemo, useState } from 'react';
import { PRODUCT_NAME_CHARS, STOCK_MAX } from '../../protocol/limits.ts';
import type { NewProduct } from '../../protocol/products.ts';
import { DialogForm } from '../ui/dialog-form.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { currencies, type ProductDraft, productOf } from './product-draft.ts';
import { texts } from './texts.ts';

interface ProductFormProps {
  readonly initial: ProductDraft;
  /** Label of the submit button. */
  readonly action: string;
  readonly isPending: boolean;
  readonly onSubmit: (product: NewProduct) => void;
  readonly onCancel: () => void;
}

export function ProductForm({ initial, action, isPending, onSubmit, onCancel }: ProductFormProps) {
  const [draft, setDraft] = useState(initial);
  const change = (part: Partial<ProductDraft>) => setDraft({ ...draft, ...part });
  return (
    <DialogForm
      action={action}
      fields={draft}
      isPending={isPending}
      onSubmit={() => onSubmit(productOf(draft))}
      onCancel={onCancel}
    >
      <TextField
        label={texts.form.name}
        value={draft.name}
        onChange={(name) => change({ name })}
        maxLength={PRODUCT_NAME_CHARS}
        isRequired
        autoFocus
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          label={texts.form.price}
          value={draft.amount}
          onChange={(amount) => change({ amount })}
          formatOptions={{ style: 'currency', currency: draft.currency }}
          minValue={0}
          isRequired
        />
        <CurrencySelect value={draft.currency} onChange={(currency) => change({ currency })} />
      </div>
      <TextField
        label={texts.form.url}
        help={texts.form.urlHelp}
        type="url"
        value={draft.url}
        onChange={(url) => change({ url })}
        isRequired
      />
      <TextField
        label={texts.form.pictureUrl}
        help={texts.form.pictureHelp}
        type="url"
        value={draft.pictureUrl}
        onChange={(pictureUrl) => change({ pictureUrl })}
      />
      <NumberField
        label={texts.form.stock}
        help={texts.form.stockHelp}
        value={draft.stock}
        onChange={(stock) => change({ stock })}
        minValue={0}
        maxValue={STOCK_MAX}
      />
    </DialogForm>
  );
}

function CurrencySelect(props: { value: string; onChange: (currency: string) => void }) {
  const options = useMemo(() => {
    const names = new Intl.DisplayNames(undefined, { type: 'currency' });
    return currencies().map((code) => ({ value: code, text: `${code} ${names.of(code) ?? ''}` }));
  }, []);
  return <Select {...props} label={texts.form.currency} options={options} />;
}
