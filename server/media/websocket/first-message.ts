import { z } from 'zod';
import type { Container } from '../source.ts';

/** What a sender says first (SPEC M-4). */
export interface FirstMessage {
  readonly key: string;
  readonly container: Container;
}

/** A first message that is none; the message is for the person who sends it. */
export class NotUnderstood extends Error {}

// A key and a media type take a tenth of it.
const CHARS_MAX = 4_096;

const schema = z.object({
  key: z.string().min(1).max(128),
  type: z.string().min(1).max(256),
});

/** By media type, without parameters: what is in the container is for the encoder to find out. */
const CONTAINERS: Readonly<Record<string, Container>> = {
  'video/webm': 'matroska',
  'video/x-matroska': 'matroska',
  // What RFC 9559 calls it.
  'video/matroska': 'matroska',
  'video/mp2t': 'mpegts',
  'video/x-flv': 'flv',
};

const SHAPE =
  'The first message must be JSON text such as {"key": "sk_…", "type": "video/webm;codecs=vp8,opus"}.';

/** @throws NotUnderstood */
export function readFirstMessage(message: string | Uint8Array): FirstMessage {
  if (typeof message !== 'string' || message.length > CHARS_MAX) throw new NotUnderstood(SHAPE);
  const { data } = schema.safeParse(jsonOf(message));
  if (!data) throw new NotUnderstood(SHAPE);
  const container = containerOf(data.type);
  if (!container) {
    throw new NotUnderstood('This type is not taken; send WebM, Matroska, MPEG-TS or FLV.');
  }
  return { key: data.key, container };
}

function containerOf(type: string): Container | undefined {
  const name = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(CONTAINERS, name) ? CONTAINERS[name] : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
