import { PRODUCER_EVENT_BYTES } from '../../../protocol/limits.ts';
import {
  customEventTypeSchema,
  type ProducerEvent,
  producerEventSchema,
} from '../../../protocol/studio.ts';

import type { RequestOf } from '../../api/studio-client.ts';
import { texts } from './texts.ts';

/** A custom event while it is edited; it may be invalid. */
export interface CustomEventDraft {
  readonly type: string;
  /** A JSON object, or empty for no data. */
  readonly dataText: string;
}

/** Errors by form field. */
export type OfferErrors = Readonly<Partial<Record<'type' | 'data', string>>>;

export type ParsedEvent = { readonly event: ProducerEvent } | { readonly errors: OfferErrors };

/** Number of recent events that can be sent again. */
const RECENT_EVENTS_MAX = 6;

/** Parses a draft into an event or its errors. */
export function parseCustomEvent({ type, dataText }: CustomEventDraft): ParsedEvent {
  const typeResult = customEventTypeSchema.safeParse(type.trim());
  const parsedData = dataOf(dataText);
  const dataError = 'error' in parsedData ? parsedData.error : null;
  if (typeResult.success && 'data' in parsedData)
    return { event: { type: typeResult.data, data: parsedData.data } };
  const typeError = typeResult.success
    ? null
    : texts.errors.type(typeResult.error.issues[0]?.message ?? '');
  return {
    errors: { ...(typeError && { type: typeError }), ...(dataError && { data: dataError }) },
  };
}

type ParsedData = { readonly data: Record<string, unknown> | null } | { readonly error: string };

function dataOf(text: string): ParsedData {
  if (text.trim() === '') return { data: null };
  const parsedData = parseJson(text);
  if (parsedData === undefined) return { error: texts.errors.invalidJson };
  if (parsedData === null) return { data: null };
  if (typeof parsedData !== 'object' || Array.isArray(parsedData)) {
    return { error: texts.errors.noObject };
  }
  if (new TextEncoder().encode(JSON.stringify(parsedData)).length > PRODUCER_EVENT_BYTES) {
    return { error: texts.errors.tooLong(PRODUCER_EVENT_BYTES) };
  }
  return { data: { ...parsedData } };
}

/** The parsed JSON; undefined: invalid. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The request body for an event, without an empty name. */
export function requestOf({ type, data }: ProducerEvent): RequestOf<'sendEvent'> {
  if (type !== 'purchase' || data?.name !== '') return { type, data };
  const { name: _, ...rest } = data;
  return { type, data: rest };
}

/** A one-line description of an event. */
export function eventLabel({ type, data }: ProducerEvent): string {
  if (type === 'discount') return texts.discounts(Number(data?.count ?? 1));
  if (type === 'purchase') return [data?.name || texts.purchases.anonymous, data?.text].join(' ');
  return data === null ? type : `${type} ${JSON.stringify(data)}`;
}

/** Recent events that can be sent again: each once, newest first. @param all newest first */
export function recentEvents(all: readonly { type: string; data: unknown }[]): ProducerEvent[] {
  const byLabel = new Map<string, ProducerEvent>();
  for (const entry of all) {
    const { data: event } = producerEventSchema.safeParse({ type: entry.type, data: entry.data });
    if (!event) continue;
    const label = eventLabel(event);
    if (!byLabel.has(label)) byLabel.set(label, event);
    if (byLabel.size === RECENT_EVENTS_MAX) break;
  }
  return [...byLabel.values()];
}
