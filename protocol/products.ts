import { z } from 'zod';
import { PRICE_MAX, PRODUCT_NAME_CHARS, STOCK_MAX } from './limits.ts';
import { httpUrl, patchOf, text, uuid } from './text.ts';

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

const fields = {
  name: text(PRODUCT_NAME_CHARS),
  picture_url: httpUrl.nullable().describe('Picture of the product'),
  price: z
    .int()
    .min(0)
    .max(PRICE_MAX)
    .describe('Price in minor units of the currency: 1250 with EUR are 12.50 euros'),
  currency: z
    .string()
    .refine((code) => CURRENCIES.has(code), 'must be a currency of ISO 4217, such as EUR')
    .meta({ pattern: '^[A-Z]{3}$' }),
  url: httpUrl.describe('Where viewers buy it'),
  stock: z
    .int()
    .min(0)
    .max(STOCK_MAX)
    .nullable()
    .describe('Pieces left: 0 is sold out; null: not counted'),
};

const EXAMPLE_PRODUCT = {
  id: '1f2e3d4c-5b6a-4978-8685-94a3b2c1d0e9',
  name: 'Mug',
  picture_url: 'https://shop.example.org/mug.jpg',
  price: 1_250,
  currency: 'EUR',
  url: 'https://shop.example.org/mug',
  stock: 40,
};

export const newProductSchema = z
  .strictObject({
    ...fields,
    picture_url: fields.picture_url.default(null),
    stock: fields.stock.default(null),
  })
  .meta({ id: 'NewProduct' });
export type NewProduct = z.infer<typeof newProductSchema>;

export const productPatchSchema = patchOf(fields).meta({ id: 'ProductPatch' });
export type ProductPatch = z.infer<typeof productPatchSchema>;

/** A product as viewers see it. */
export const shownProductSchema = z
  .object({ id: uuid, ...fields })
  .meta({ id: 'ShownProduct', examples: [EXAMPLE_PRODUCT] });
export type ShownProduct = z.infer<typeof shownProductSchema>;

/** A product as its producer sees it. */
export const productSchema = shownProductSchema
  .extend({ shown: z.boolean().describe('Whether viewers see it now') })
  .meta({ id: 'Product', examples: [{ ...EXAMPLE_PRODUCT, shown: true }] });
export type Product = z.infer<typeof productSchema>;
