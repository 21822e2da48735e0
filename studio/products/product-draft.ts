import { fractionDigitsOf } from '../../player/product/price-text.ts';
import type { NewProduct, ProductPatch } from '../../protocol/products.ts';
import { changedFields } from '../ui/changed-fields.ts';

/** A product while it is edited. */
export interface ProductDraft {
  readonly name: string;
  /** Price as people write it: 12.5 for 12.50 euros; NaN: none yet. */
  readonly amount: number;
  readonly currency: string;
  readonly url: string;
  /** Empty: no picture. */
  readonly pictureUrl: string;
  /** NaN: not counted. */
  readonly stock: number;
}

/** Currencies at the top of the list. */
const COMMON = ['EUR', 'USD', 'GBP', 'CHF', 'JPY'];

/** All currencies that the browser knows, as ISO 4217 codes, common ones first. */
export function currencies(): readonly string[] {
  return [...new Set([...COMMON, ...Intl.supportedValuesOf('currency')])];
}

/** The form of a new product. @param currency that of the previous product; null: there is none */
export function emptyDraft(currency: string | null): ProductDraft {
  return {
    name: '',
    amount: Number.NaN,
    currency: currency ?? 'EUR',
    url: '',
    pictureUrl: '',
    stock: Number.NaN,
  };
}

export function draftOf({
  name,
  price,
  currency,
  url,
  picture_url,
  stock,
}: NewProduct): ProductDraft {
  return {
    name,
    amount: price / 10 ** fractionDigitsOf(currency),
    currency,
    url,
    pictureUrl: picture_url ?? '',
    stock: stock ?? Number.NaN,
  };
}

export function productOf(draft: ProductDraft): NewProduct {
  const { name, amount, currency, url, pictureUrl, stock } = draft;
  return {
    name: name.trim(),
    price: Math.round(amount * 10 ** fractionDigitsOf(currency)) || 0,
    currency,
    url: url.trim(),
    picture_url: pictureUrl.trim() === '' ? null : pictureUrl.trim(),
    stock: Number.isNaN(stock) ? null : Math.round(stock),
  };
}

/**
 * What the form of a product changed; null: nothing. Price and currency are saved together, because
 * a price is in minor units of its currency.
 * @param product as it was when the form opened
 */
export function productChanges(product: NewProduct, edited: NewProduct): ProductPatch | null {
  const changes = changedFields(productOf(draftOf(product)), edited);
  if (changes?.price === undefined && changes?.currency === undefined) return changes;
  return { ...changes, price: edited.price, currency: edited.currency };
}
