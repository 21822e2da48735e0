import { expect, test } from 'bun:test';
import { newProductSchema } from '../../protocol/products.ts';
import { currencies, draftOf, emptyDraft, productChanges, productOf } from './product-draft.ts';

const PRODUCT = {
  ...{ name: 'Mug', picture_url: 'https://shop.example.org/mug.jpg', price: 1_250 },
  ...{ currency: 'EUR', url: 'https://shop.example.org/mug', stock: 3 },
};

test('a product that is edited and not changed stays the same', () => {
  for (const fields of [
    {},
    { picture_url: null, stock: null },
    { currency: 'JPY' },
    { stock: 0 },
  ]) {
    const product = newProductSchema.parse({ ...PRODUCT, ...fields });
    expect(productOf(draftOf(product))).toEqual(product);
  }
});

test('[P-31] a price is stored in minor units of its currency', () => {
  const priceOf = (amount: number, currency: string) =>
    productOf({ ...draftOf(PRODUCT), amount, currency }).price;
  expect(priceOf(19.99, 'EUR')).toBe(1_999);
  expect(priceOf(1_999, 'JPY')).toBe(1_999);
  expect(priceOf(1.5, 'KWD')).toBe(1_500);
});

test('[P-31] a host who edits a product leaves its stock, from which purchases are taken meanwhile', () => {
  const edited = (fields: Partial<ReturnType<typeof draftOf>>) =>
    productChanges(PRODUCT, productOf({ ...draftOf(PRODUCT), ...fields }));
  expect(edited({ name: 'Large mug' })).toEqual({ name: 'Large mug' });
  expect(edited({ stock: 8 })).toEqual({ stock: 8 });
  expect(edited({ stock: Number.NaN })).toEqual({ stock: null });
  expect(edited({})).toBeNull();
});

test('[P-31] a price is saved with its currency', () => {
  const both = { price: 1_300, currency: 'EUR' };
  expect(productChanges(PRODUCT, { ...PRODUCT, price: 1_300 })).toEqual(both);
  expect(productChanges(PRODUCT, { ...PRODUCT, currency: 'USD' })).toEqual({
    price: 1_250,
    currency: 'USD',
  });
});

test('a product with spaces around its name is unchanged until it is edited', () => {
  const product = { ...PRODUCT, name: ' Mug ' };
  expect(productChanges(product, productOf(draftOf(product)))).toBeNull();
});

test('a new product has the currency of the previous one', () => {
  expect(emptyDraft('USD').currency).toBe('USD');
  expect(emptyDraft(null).currency).toBe('EUR');
  expect(currencies().slice(0, 2)).toEqual(['EUR', 'USD']);
  expect(new Set(currencies()).size).toBe(currencies().length);
});
