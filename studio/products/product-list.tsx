import { ImageOff, Package, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { priceText } from '../../player/product/price-text.ts';
import type { NewProduct, Product } from '../../protocol/products.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { usePermission } from '../session/session-context.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { draftOf, emptyDraft, productChanges } from './product-draft.ts';
import { ProductForm } from './product-form.tsx';
import { texts } from './texts.ts';

const INVALIDATED = ['listProducts'] as const;

interface ProductListProps {
  readonly streamId: string;
  readonly products: readonly Product[];
  /** Whether the connection is up; else showing and hiding is disabled. */
  readonly isConnected?: boolean;
}

/** The products of a show, to show to viewers, to add, to change and to delete. */
export function ProductList({ streamId, products, isConnected = true }: ProductListProps) {
  const [edited, setEdited] = useState<Product | 'new' | null>(null);
  const [toDelete, setToDelete] = useState<Product | null>(null);
  const mayChange = usePermission('patchProduct');
  return (
    <div className="grid gap-3 *:min-w-0">
      {products.length === 0 ? (
        <p className="text-quiet">{texts.emptyHelp}</p>
      ) : (
        <ul aria-label={texts.title} className="grid gap-2 *:min-w-0">
          {products.map((product) => (
            <li key={product.id} className="flex items-center gap-3">
              <Thumbnail key={product.picture_url} url={product.picture_url} />
              <Description product={product} />
              {mayChange && (
                <>
                  <ShowButton streamId={streamId} product={product} isConnected={isConnected} />
                  <Menu
                    label={texts.actions(product.name)}
                    actions={[
                      { text: texts.edit, icon: <Pencil />, onAction: () => setEdited(product) },
                      {
                        text: texts.delete,
                        icon: <Trash2 />,
                        onAction: () => setToDelete(product),
                        isDangerous: true,
                      },
                    ]}
                  />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayChange && (
        <div>
          <Button icon={<Plus />} onPress={() => setEdited('new')}>
            {texts.add}
          </Button>
        </div>
      )}
      <Dialog
        title={edited === 'new' ? texts.newTitle : texts.editTitle}
        isOpen={edited !== null}
        onOpenChange={() => setEdited(null)}
      >
        {(close) =>
          edited === 'new' ? (
            <NewProductForm streamId={streamId} products={products} onClose={close} />
          ) : (
            edited && <EditProductForm streamId={streamId} product={edited} onClose={close} />
          )
        }
      </Dialog>
      <DeleteDialog
        streamId={streamId}
        product={toDelete}
        onClose={() => setToDelete((current) => (current === toDelete ? null : current))}
      />
    </div>
  );
}

function Thumbnail({ url }: { readonly url: string | null }) {
  const [isBroken, setBroken] = useState(false);
  const className = 'size-11 shrink-0 rounded-lg border border-line bg-raised';
  if (url === null || isBroken) {
    return (
      <span className={`grid place-items-center text-quiet ${className}`}>
        {url === null ? <Package className="size-5" /> : <ImageOff className="size-5" />}
      </span>
    );
  }
  return (
    <img
      src={url}
      alt=""
      referrerPolicy="no-referrer"
      onError={() => setBroken(true)}
      className={`object-cover ${className}`}
    />
  );
}

function Description({ product }: { readonly product: Product }) {
  const { name, price, currency, stock, shown } = product;
  const stockText = stock === 0 ? texts.soldOut : stock !== null && texts.left(stock);
  return (
    <span className="grid min-w-0 flex-1">
      <bdi className="line-clamp-2 font-semibold wrap-anywhere">{name}</bdi>
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-quiet tabular-nums">
        {[priceText(price, currency), stockText].filter(Boolean).join(' · ')}
        {shown && <Badge variant="live">{texts.onScreen}</Badge>}
      </span>
    </span>
  );
}

interface ShowButtonProps extends Pick<ProductListProps, 'streamId' | 'isConnected'> {
  readonly product: Product;
}

function ShowButton({ streamId, product, isConnected }: ShowButtonProps) {
  const { id, name, shown } = product;
  const { mutate, isPending } = useApiMutation(shown ? 'hideProduct' : 'showProduct', {
    invalidates: INVALIDATED,
  });
  return (
    <Button
      isDisabled={!isConnected}
      isPending={isPending}
      aria-label={shown ? texts.hideLabel(name) : texts.showLabel(name)}
      onPress={() => mutate({ params: { stream_id: streamId, product_id: id } })}
    >
      {shown ? texts.hide : texts.show}
    </Button>
  );
}

interface FormProps {
  readonly streamId: string;
  readonly onClose: () => void;
}

function NewProductForm({ streamId, products, onClose }: FormProps & ProductListProps) {
  const { mutate, isPending } = useApiMutation('createProduct', {
    invalidates: INVALIDATED,
    onSuccess: onClose,
  });
  return (
    <ProductForm
      initial={emptyDraft(products.at(-1)?.currency ?? null)}
      action={texts.add}
      isPending={isPending}
      onSubmit={(body) => mutate({ params: { stream_id: streamId }, body })}
      onCancel={onClose}
    />
  );
}

/** @param product as it was when the form opened */
function EditProductForm({ streamId, product, onClose }: FormProps & { product: Product }) {
  const { mutate, isPending } = useApiMutation('patchProduct', {
    invalidates: INVALIDATED,
    onSuccess: onClose,
  });
  const params = { stream_id: streamId, product_id: product.id };
  const save = (edited: NewProduct) => {
    const body = productChanges(product, edited);
    if (body) mutate({ params, body });
    else onClose();
  };
  return (
    <ProductForm
      initial={draftOf(product)}
      action={texts.save}
      isPending={isPending}
      onSubmit={save}
      onCancel={onClose}
    />
  );
}

function DeleteDialog({ streamId, product, onClose }: FormProps & { product: Product | null }) {
  const { mutate, isPending } = useApiMutation('deleteProduct', {
    invalidates: INVALIDATED,
    onSuccess: onClose,
  });
  return (
    <Confirm
      title={texts.deleteTitle}
      action={texts.delete}
      isOpen={product !== null}
      onOpenChange={onClose}
      isPending={isPending}
      onConfirm={() =>
        product && mutate({ params: { stream_id: streamId, product_id: product.id } })
      }
    >
      <p dir="auto" className="font-semibold text-text">
        {product?.name}
      </p>
      <p>{texts.deleteHelp}</p>
    </Confirm>
  );
}
