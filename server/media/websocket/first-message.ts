import { z } from 'zod';
import { JSON_DEPTH, JSON_INDEXES } from '../../../protocol/limits.ts';
import { scanJson } from '../../platform/scan-json.ts';
import type { Container, SourceKind } from '../source.ts';

/** The first message of a sender (SPEC M-4). */
export interface FirstMessage {
  readonly key: string;
  readonly container: Container;
  readonly kind: SourceKind;
}

/** The first message is invalid; the error message is for the sender. */
export class UnsupportedMessage extends Error {}

// A key and a media type need a tenth of this.
const MAX_CHARS = 4_096;

const schema = z.object({
  key: z.string().min(1).max(128),
  type: z.string().min(1).max(256),
  // The program, if it names itself. Unknown programs are accepted.
  sender: z.literal('media-play').optional().catch(undefined),
});

/** By media type without parameters; the encoder finds the codecs by itself. */
const CONTAINERS: Readonly<Record<string, Container>> = {
  'video/webm': 'matroska',
  'video/x-matroska': 'matroska',
  // The name in RFC 9559.
  'video/matroska': 'matroska',
  'video/mp2t': 'mpegts',
  'video/x-flv': 'flv',
};

const EXPECTED_FORMAT =
  'The first message must be JSON text such as {"key": "sk_…", "type": "video/webm;codecs=vp8,opus"}.';

/** Parses the first message. @throws UnsupportedMessage */
export function readFirstMessage(message: string | Uint8Array): FirstMessage {
  if (typeof message !== 'string' || message.length > MAX_CHARS)
    throw new UnsupportedMessage(EXPECTED_FORMAT);
  const { data } = schema.safeParse(parseJson(message));
  if (!data) throw new UnsupportedMessage(EXPECTED_FORMAT);
  const container = containerOf(data.type);
  if (!container) {
    throw new UnsupportedMessage(
      'This media type is not supported; send WebM, Matroska, MPEG-TS or FLV.',
    );
  }
  return { key: data.key, container, kind: data.sender ?? 'websocket' };
}

function containerOf(type: string): Container | undefined {
  const name = type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return Object.hasOwn(CONTAINERS, name) ? CONTAINERS[name] : undefined;
}

function parseJson(text: string): unknown {
  const scan = scanJson(text, JSON_DEPTH);
  if (!scan || scan.indexes > JSON_INDEXES) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
