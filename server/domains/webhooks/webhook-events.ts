import { createHash } from 'node:crypto';
import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { WebhookData, WebhookEventType } from '../../../protocol/webhooks.ts';

/** An event that webhooks can subscribe to, as the domain that causes it reports it. */
export type WebhookEvent = {
  [Type in WebhookEventType]: {
    readonly type: Type;
    /** The stream it belongs to; webhooks of this stream's producer receive it. */
    readonly streamId: string;
    /** Unique among events of its type, so that the event is delivered once. */
    readonly key: string;
    readonly data: WebhookData[Type];
  };
}[WebhookEventType];

export const MINUTE_MS = 60_000;
/** Intervals per minute. The first interval of each minute is a multiple of it. */
export const MINUTE_INTERVALS = MINUTE_MS / INTERVAL_MS;

/**
 * The request body of a delivery, in the format of Standard Webhooks.
 * @param atMs time of the event, Unix ms
 * @param data JSON text
 */
export function webhookBody(type: string, atMs: number, data: string): string {
  return `{"type":"${type}","timestamp":"${new Date(atMs).toISOString()}","data":${data}}`;
}

/**
 * The id of the delivery of an event to a webhook. It is derived from both, so that inserting a
 * delivery is idempotent. The format is UUID version 8, which leaves its bits to us (RFC 9562).
 */
export function deliveryIdOf(
  webhook: string,
  { type, key }: { readonly type: string; readonly key: string },
): string {
  const hash = createHash('sha256').update(`${webhook} ${type} ${key}`).digest();
  hash[6] = ((hash[6] as number) & 0x0f) | 0x80;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
