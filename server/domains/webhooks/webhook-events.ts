import { createHash } from 'node:crypto';
import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { WebhookData, WebhookEvent as WebhookEventType } from '../../../protocol/webhooks.ts';

/** Something that webhooks are told of. */
export type WebhookEvent = {
  [Type in WebhookEventType]: {
    readonly type: Type;
    /** The stream whose producer may want to know. */
    readonly streamId: string;
    /** What tells it from all others of its type: it happens once. */
    readonly key: string;
    readonly data: WebhookData[Type];
  };
}[WebhookEventType];

export const MINUTE_MS = 60_000;
/** Intervals of a minute; the first of the hour, and of each minute, is a multiple. */
export const MINUTE_INTERVALS = MINUTE_MS / INTERVAL_MS;

/**
 * What is sent, in the form of Standard Webhooks.
 * @param atMs when it happened, Unix ms
 * @param data in JSON
 */
export function bodyOf(type: string, atMs: number, data: string): string {
  return `{"type":"${type}","timestamp":"${new Date(atMs).toISOString()}","data":${data}}`;
}

/**
 * The id of what a webhook is told: the same for the same webhook and happening, so that the database
 * takes it once. It is a uuid of version 8, whose bits are whatever one likes (RFC 9562).
 */
export function deliveryIdOf(
  webhook: string,
  { type, key }: { readonly type: string; readonly key: string },
): string {
  const hash = createHash('sha256').update(`${webhook} ${type} ${key}`).digest();
  hash[6] = ((hash[6] as number) & 0x0f) | 0x80;
  hash[8] = ((hash[8] as number) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-');
}
