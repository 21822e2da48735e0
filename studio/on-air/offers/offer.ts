import { PRODUCER_EVENT_BYTES } from '../../../protocol/limits.ts';
import {
  ownTypeSchema,
  type ProducerEvent,
  producerEventSchema,
} from '../../../protocol/studio.ts';

import type { BodyOf } from '../../api/studio-client.ts';

/** An event of the producer's own as it is being written: not right yet, maybe. */
export interface OwnEventDraft {
  readonly type: string;
  /** JSON: an object; nothing: there is no data. */
  readonly dataText: string;
}

/** What is wrong with what is written, by the field where it is seen. */
export type OfferErrors = Readonly<Partial<Record<'type' | 'data', string>>>;

export type Written = { readonly event: ProducerEvent } | { readonly errors: OfferErrors };

/** So many can be sent again with one press. */
const LATELY_MAX = 6;

/** The event that a draft is, or what is wrong with it. */
export function ownEventOf({ type, dataText }: OwnEventDraft): Written {
  const named = ownTypeSchema.safeParse(type.trim());
  const told = dataOf(dataText);
  const wrongData = 'wrong' in told ? told.wrong : null;
  if (named.success && 'data' in told) return { event: { type: named.data, data: told.data } };
  const wrongType = named.success ? null : `The type ${named.error.issues[0]?.message}.`;
  return {
    errors: { ...(wrongType && { type: wrongType }), ...(wrongData && { data: wrongData }) },
  };
}

type Data = { readonly data: Record<string, unknown> | null } | { readonly wrong: string };

function dataOf(text: string): Data {
  if (text.trim() === '') return { data: null };
  const told = parsed(text);
  if (told === undefined) return { wrong: 'This is no JSON.' };
  if (told === null) return { data: null };
  if (typeof told !== 'object' || Array.isArray(told)) {
    return { wrong: 'The data must be an object, such as {"colour": "red"}.' };
  }
  if (new TextEncoder().encode(JSON.stringify(told)).length > PRODUCER_EVENT_BYTES) {
    return { wrong: `The data must have at most ${PRODUCER_EVENT_BYTES} bytes.` };
  }
  return { data: { ...told } };
}

/** What JSON says; undefined: it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the service takes: a name that nobody wrote is left out. */
export function bodyOf({ type, data }: ProducerEvent): BodyOf<'sendEvent'> {
  return type === 'purchase' && data?.name === ''
    ? { type, data: { text: String(data.text) } }
    : { type, data };
}

/** What an event says, in a line. */
export function wordsOf({ type, data }: ProducerEvent): string {
  if (type === 'discount') return discountWords(Number(data?.count ?? 1));
  if (type === 'purchase') return [data?.name || 'Somebody', data?.text].join(' ');
  return data === null ? type : `${type} ${JSON.stringify(data)}`;
}

/** "3 discounts". */
export function discountWords(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'discount' : 'discounts'}`;
}

/** What can be sent again: each once, the newest first. @param all the newest first */
export function lately(all: readonly { type: string; data: unknown }[]): ProducerEvent[] {
  const found = new Map<string, ProducerEvent>();
  for (const one of all) {
    const { data: event } = producerEventSchema.safeParse({ type: one.type, data: one.data });
    if (!event) continue;
    const words = wordsOf(event);
    if (!found.has(words)) found.set(words, event);
    if (found.size === LATELY_MAX) break;
  }
  return [...found.values()];
}
