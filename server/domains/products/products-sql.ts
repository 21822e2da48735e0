import { PRODUCTS_MAX } from '../../../protocol/limits.ts';
import type {
  NewProduct,
  Product,
  ProductPatch,
  ShownProduct,
} from '../../../protocol/products.ts';
import { DomainError } from '../../platform/errors.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { countRows } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { lockOwnStream, type OwnStream, ownStream } from '../streams/streams-sql.ts';

interface ProductRef extends OwnStream {
  readonly id: string;
}

type ProductRow = Omit<Product, 'shown'> & { readonly shown: number };

const COLUMNS = 'id, name, picture_url, price, currency, url, stock, shown';

export const productProcedures = {
  /** The products of a stream, oldest first. @throws DomainError `not-found` */
  listProducts: readProcedure(async (tx, { streamId, producer }: OwnStream): Promise<Product[]> => {
    await ownStream(tx, streamId, producer);
    const rows = await tx.query<ProductRow>(
      `select ${COLUMNS} from products where stream_id = $1 order by number`,
      [streamId],
    );
    return rows.map(fromRow);
  }),

  /** @throws DomainError `not-found`; `conflict` when the stream has too many products */
  createProduct: writeProcedure(
    async (tx, input: ProductRef & { product: NewProduct }): Promise<Product> => {
      const { streamId, id, product } = input;
      await lockOwnStream(tx, streamId, input.producer);
      if ((await countRows(tx, 'products where stream_id = $1', [streamId])) >= PRODUCTS_MAX) {
        throw new DomainError('conflict', `A stream has at most ${PRODUCTS_MAX} products.`);
      }
      await tx.query(
        `insert into products (stream_id, number, id, name, picture_url, price, currency, url, stock)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [streamId, await incrementRevision(tx, streamId), id, ...valuesOf(product)],
      );
      return { id, ...product, shown: false };
    },
  ),

  /** Changes a product; viewers who see it get an event. @throws DomainError `not-found` */
  changeProduct: writeProcedure(
    async (tx, input: ProductRef & { patch: ProductPatch }): Promise<Product> => {
      const product = await lockProduct(tx, input);
      const changed = patched(product, input.patch);
      await tx.query(
        `update products set name = $3, picture_url = $4, price = $5, currency = $6, url = $7,
           stock = $8 where stream_id = $1 and id = $2`,
        [input.streamId, input.id, ...valuesOf(changed)],
      );
      await publishChange(tx, input.streamId, product, changed);
      return changed;
    },
  ),

  /** Deletes a product; viewers no longer see it. @throws DomainError `not-found` */
  deleteProduct: writeProcedure(async (tx, input: ProductRef): Promise<void> => {
    const product = await lockProduct(tx, input);
    const { streamId, id } = input;
    await tx.query('delete from products where stream_id = $1 and id = $2', [streamId, id]);
    await publishChange(tx, streamId, product, { ...product, shown: false });
  }),

  /**
   * Shows a product to viewers in place of another one, or hides it; viewers get an event if it
   * changes. @throws DomainError `not-found`
   */
  showProduct: writeProcedure(
    async (tx, input: ProductRef & { isShown: boolean }): Promise<Product> => {
      const { streamId, id, isShown } = input;
      const product = await lockProduct(tx, input);
      const changed = { ...product, shown: isShown };
      if (product.shown === isShown) return product;
      await tx.query(
        `update products set shown = case when id = $2 then $3 else 0 end
         where stream_id = $1 and (id = $2 or shown = 1)`,
        [streamId, id, Number(isShown)],
      );
      await publishChange(tx, streamId, product, changed);
      return changed;
    },
  ),
};

/** The product that viewers of a stream see; null: none. */
export async function readShownProduct(tx: Tx, streamId: string): Promise<ShownProduct | null> {
  const [row] = await tx.query<ProductRow>(
    `select ${COLUMNS} from products where stream_id = $1 and shown = 1`,
    [streamId],
  );
  return row ? shownOf(fromRow(row)) : null;
}

/**
 * Takes a purchase from the stock of a product, which never falls below 0: the shop decides what it
 * sells. The transaction has locked the stream.
 * @throws DomainError `invalid` when the stream has no such product
 */
export async function takeFromStock(
  tx: Tx,
  ref: Pick<ProductRef, 'streamId' | 'id'>,
  quantity: number,
): Promise<void> {
  const product = await findProduct(tx, ref);
  if (!product) throw new DomainError('invalid', 'data.productId: the stream has no such product.');
  if (product.stock === null) return;
  const stock = Math.max(0, product.stock - quantity);
  if (stock === product.stock) return;
  await tx.query('update products set stock = $3 where stream_id = $1 and id = $2', [
    ref.streamId,
    ref.id,
    stock,
  ]);
  await publishChange(tx, ref.streamId, product, { ...product, stock });
}

/** Copies the products of a stream to a new one; viewers of the new one do not see any. */
export async function copyProducts(tx: Tx, fromId: string, toId: string): Promise<void> {
  await tx.query(
    `insert into products (stream_id, id, name, picture_url, price, currency, url, stock, number)
     select $2, id, name, picture_url, price, currency, url, stock, number
     from products where stream_id = $1`,
    [fromId, toId],
  );
  // Products that are added later get higher numbers.
  await tx.query(
    `update streams set products_revision =
       (select shown.products_revision from streams shown where shown.id = $1) where id = $2`,
    [fromId, toId],
  );
}

async function lockProduct(tx: Tx, ref: ProductRef): Promise<Product> {
  await lockOwnStream(tx, ref.streamId, ref.producer);
  const product = await findProduct(tx, ref);
  if (!product) throw new DomainError('not-found', 'The stream has no such product.');
  return product;
}

async function findProduct(
  tx: Tx,
  { streamId, id }: Pick<ProductRef, 'streamId' | 'id'>,
): Promise<Product | null> {
  const [row] = await tx.query<ProductRow>(
    `select ${COLUMNS} from products where stream_id = $1 and id = $2`,
    [streamId, id],
  );
  return row ? fromRow(row) : null;
}

/** Publishes a change of a product that viewers see, or saw. */
async function publishChange(
  tx: Tx,
  streamId: string,
  before: Product,
  after: Product,
): Promise<void> {
  await incrementRevision(tx, streamId);
  if (!before.shown && !after.shown) return;
  const data = after.shown ? shownOf(after) : null;
  await recordEvent(tx, streamId, 'product', data);
}

/** @returns the new revision */
async function incrementRevision(tx: Tx, streamId: string): Promise<number> {
  const [row] = await tx.query<{ revision: number }>(
    `update streams set products_revision = products_revision + 1 where id = $1
     returning products_revision as revision`,
    [streamId],
  );
  if (!row) throw new Error(`no stream ${streamId}`);
  return row.revision;
}

function patched(product: Product, patch: ProductPatch): Product {
  const { name = product.name, picture_url = product.picture_url, url = product.url } = patch;
  const { price = product.price, currency = product.currency, stock = product.stock } = patch;
  return { ...product, name, picture_url, price, currency, url, stock };
}

function valuesOf({ name, picture_url, price, currency, url, stock }: NewProduct) {
  return [name, picture_url, price, currency, url, stock];
}

function fromRow({ price, shown, ...row }: ProductRow): Product {
  return { ...row, price: Number(price), shown: shown === 1 };
}

function shownOf({ shown: _, ...product }: Product): ShownProduct {
  return product;
}
