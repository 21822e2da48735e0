import { studioApi } from '../../../protocol/studio-api.ts';
import {
  ownStreamInput,
  type StudioCall,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { productProcedures } from './products-sql.ts';

export interface ProductDeps {
  readonly studio: StudioHandlerFactory;
  readonly store: Calls<typeof productProcedures>;
  readonly newId: () => string;
}

/** Operations of the studio API for the products of a stream (SPEC P-31). */
export function createProducts({ studio, store, newId }: ProductDeps) {
  const show = (call: StudioCall, isShown: boolean) =>
    store.showProduct({ ...ownProduct(call), isShown }, call.idempotency);
  const handlers = {
    // With the longest URLs 100 products have a megabyte.
    listProducts: studio(
      studioApi.listProducts,
      async (call) => ({ results: await store.listProducts(ownStreamInput(call)) }),
      { isLarge: true },
    ),
    createProduct: studio(studioApi.createProduct, (call, product) =>
      store.createProduct({ ...ownStreamInput(call), id: newId(), product }, call.idempotency),
    ),
    patchProduct: studio(studioApi.patchProduct, (call, patch) =>
      store.changeProduct({ ...ownProduct(call), patch }, call.idempotency),
    ),
    deleteProduct: studio(studioApi.deleteProduct, async (call) => {
      await store.deleteProduct(ownProduct(call), call.idempotency);
      return null;
    }),
    showProduct: studio(studioApi.showProduct, (call) => show(call, true)),
    hideProduct: studio(studioApi.hideProduct, (call) => show(call, false)),
  };
  return { handlers };
}

const ownProduct = (call: StudioCall) => ({
  ...ownStreamInput(call),
  id: call.params.product_id ?? '',
});
