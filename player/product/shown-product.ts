import { intervalAt } from '../../protocol/interval.ts';
import type { EventsInterval, Product } from '../../sdk/types.ts';
import { RESPONSE_DELAY_INTERVALS } from '../audience/moderation.ts';

/** The product that the host shows. */
export interface ShownProduct {
  readonly product: Product | null;
  /** The interval of the last change; older events change nothing. */
  readonly interval: number;
}

export const NO_PRODUCT: ShownProduct = { product: null, interval: 0 };

type FeedEvent = EventsInterval['events'][number] & { readonly interval: number };

/** Applies an event on screen. A viewer who seeks back gets old events again, which change nothing. */
export function applyProductEvent(before: ShownProduct, event: FeedEvent): ShownProduct {
  const { type, data, interval } = event;
  if (type !== 'product' || interval < before.interval) return before;
  return { product: data as Product | null, interval };
}

/**
 * Applies the product of the stream resource, unless an event is newer than the response.
 * @param nowMs Unix ms
 */
export function applyStreamProduct(
  before: ShownProduct,
  product: Product | null,
  nowMs: number,
): ShownProduct {
  const interval = intervalAt(nowMs) - RESPONSE_DELAY_INTERVALS;
  return before.interval > interval ? before : { product, interval };
}
