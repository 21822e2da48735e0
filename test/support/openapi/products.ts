import { randomUUID } from 'node:crypto';
import { PRODUCT } from '../conformance/operations.ts';
import type { CheckedResponse, Exercises, Fixture } from './fixture.ts';

/** The operations on the products of a stream. */
export function productExercises(fixture: Fixture): Exercises {
  const onProduct = async (
    operationId: string,
    status: number,
    body?: object,
  ): Promise<CheckedResponse[]> => {
    const stream_id = await fixture.service.createStream();
    const create = { params: { stream_id }, body: PRODUCT };
    const product_id = await fixture.createdId('createProduct', create);
    const send = (product_id: string) =>
      fixture.sendAsAccount(operationId, {
        params: { stream_id, product_id },
        ...(body && { body }),
      });
    return [
      [await send(product_id), status],
      [await send(randomUUID()), 404],
    ];
  };
  return {
    listProducts: () => fixture.sendInStream('listProducts', {}, 200),
    createProduct: () => fixture.sendInStream('createProduct', { body: PRODUCT }, 201),
    patchProduct: () => onProduct('patchProduct', 200, { price: 1 }),
    deleteProduct: () => onProduct('deleteProduct', 204),
    showProduct: () => onProduct('showProduct', 200),
    hideProduct: () => onProduct('hideProduct', 200),
  };
}
