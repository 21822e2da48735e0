import { useEffect, useState } from 'react';
import type { Product } from '../../sdk/types.ts';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { applyProductEvent, applyStreamProduct, NO_PRODUCT } from './shown-product.ts';

interface ProductOnScreen {
  /** Null: the host shows none, or the viewer has closed its card. */
  readonly product: Product | null;
  close(): void;
}

/** The product that the host shows, until the viewer closes its card. */
export function useProduct(viewer: Viewer, { stream }: Snapshot): ProductOnScreen {
  const [{ product }, setShown] = useState(NO_PRODUCT);
  const [closedId, setClosedId] = useState<string | null>(null);
  useEffect(
    () => viewer.on('event', (event) => setShown((before) => applyProductEvent(before, event))),
    [viewer],
  );
  // Not every response with the stream contains its product.
  const current = stream?.product;
  useEffect(() => {
    if (current === undefined) return;
    const nowMs = viewer.clock.nowMs();
    setShown((before) => applyStreamProduct(before, current, nowMs));
  }, [viewer, current]);
  const id = product?.id ?? null;
  // A product that is hidden and shown again has a card again.
  if (closedId !== null && id !== closedId) setClosedId(null);
  return { product: id === closedId ? null : product, close: () => setClosedId(id) };
}
