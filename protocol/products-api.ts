import type { Operation } from './operation.ts';
import { newProductSchema, productPatchSchema, productSchema } from './products.ts';
import { listOf } from './studio.ts';
import { memberRead, producerWrite } from './studio-operation.ts';

const PRODUCTS = '/studio/v1/streams/{stream_id}/products';
const PRODUCT = `${PRODUCTS}/{product_id}` as const;
const product = { 200: { description: 'The product', schema: productSchema } };

/** The products that a stream sells (SPEC P-31). */
export const productsApi = {
  listProducts: {
    ...memberRead,
    method: 'GET',
    path: PRODUCTS,
    summary: "List the stream's products, oldest first",
    responses: { 200: { description: 'The products', schema: listOf(productSchema) } },
  },
  createProduct: {
    ...producerWrite,
    method: 'POST',
    path: PRODUCTS,
    summary: 'Create a product; viewers do not see it yet',
    body: newProductSchema,
    responses: { 201: { description: 'The product', schema: productSchema } },
  },
  patchProduct: {
    ...producerWrite,
    method: 'PATCH',
    path: PRODUCT,
    summary: 'Change a product',
    body: productPatchSchema,
    responses: product,
  },
  deleteProduct: {
    ...producerWrite,
    method: 'DELETE',
    path: PRODUCT,
    summary: 'Delete a product',
    responses: { 204: { description: 'Deleted' } },
  },
  showProduct: {
    ...producerWrite,
    method: 'POST',
    path: `${PRODUCT}/show`,
    summary: 'Show a product to viewers, in place of another one',
    description: 'Viewers receive a `product` event if this changes anything.',
    responses: product,
  },
  hideProduct: {
    ...producerWrite,
    method: 'POST',
    path: `${PRODUCT}/hide`,
    summary: 'Hide a product from viewers',
    description: 'Viewers receive a `product` event with null if they saw this product.',
    responses: product,
  },
} as const satisfies Record<string, Operation>;
