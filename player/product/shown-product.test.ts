import { expect, test } from 'bun:test';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { Product } from '../../sdk/types.ts';
import { applyProductEvent, applyStreamProduct, NO_PRODUCT } from './shown-product.ts';

const product = (name: string): Product => ({
  ...{ id: name, name, picture_url: null, price: 1_250, currency: 'EUR' },
  ...{ url: 'https://shop.example.org/', stock: null },
});
const event = (interval: number, data: Product | null, type = 'product') => ({
  type,
  data,
  interval,
});

test('[P-31] an event on screen replaces the product, or hides it', () => {
  const mug = applyProductEvent(NO_PRODUCT, event(100, product('mug')));
  expect(mug).toEqual({ product: product('mug'), interval: 100 });
  const hat = applyProductEvent(mug, event(100, product('hat')));
  expect(hat.product?.name).toBe('hat');
  expect(applyProductEvent(hat, event(101, null)).product).toBeNull();
  expect(applyProductEvent(hat, event(102, null, 'lights'))).toBe(hat);
});

test('[P-31] events of a replayed part change nothing', () => {
  const mug = applyProductEvent(NO_PRODUCT, event(100, product('mug')));
  expect(applyProductEvent(mug, event(99, product('hat')))).toBe(mug);
});

test('[P-31] the product of the stream holds against events from before it', () => {
  const mug = applyStreamProduct(NO_PRODUCT, product('mug'), intervalStartMs(1_000));
  expect(applyProductEvent(mug, event(979, null)).product?.name).toBe('mug');
  expect(applyProductEvent(mug, event(980, null)).product).toBeNull();
});

test('[P-31] an event holds against a response that was read before it and arrived later', () => {
  const mug = applyProductEvent(NO_PRODUCT, event(1_000, product('mug')));
  expect(applyStreamProduct(mug, null, intervalStartMs(1_001))).toBe(mug);
  // Longer ago, the viewer may have missed events.
  expect(applyStreamProduct(mug, null, intervalStartMs(1_020)).product).toBeNull();
});
