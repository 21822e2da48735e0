// SRT Access Control Guidelines: prefix of key-value pairs.
const PAIRS_PREFIX = '#!::';
const PUBLISH_PREFIX = 'publish:';

// Longer than any stream key.
const MAX_KEY_CHARS = 128;

export type StreamIdRequest =
  | { readonly key: string }
  /** Playback, which is not supported over SRT. */
  | 'play'
  /** Without a valid key. */
  | 'unclear';

/**
 * Parses a stream id (SPEC M-3): `publish:KEY`, `KEY`, or, by the SRT Access Control Guidelines,
 * `#!::m=publish,r=KEY` (or `u=KEY`). It may be percent-encoded: some senders, such as ffmpeg 5, do
 * not decode it from the URL.
 */
export function readStreamIdRequest(text: string): StreamIdRequest {
  const streamId = percentDecode(text);
  if (streamId.startsWith(PAIRS_PREFIX)) return parsePairs(streamId.slice(PAIRS_PREFIX.length));
  if (/^(?:play|read|request):/.test(streamId)) return 'play';
  return parseKey(
    streamId.startsWith(PUBLISH_PREFIX) ? streamId.slice(PUBLISH_PREFIX.length) : streamId,
  );
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parsePairs(text: string): StreamIdRequest {
  const pairs = new Map(
    text.split(',').map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), value.join('=').trim()];
    }),
  );
  // The guidelines' default mode is `request`, but callers with a key want to publish.
  const mode = pairs.get('m') ?? 'publish';
  if (mode !== 'publish' && mode !== 'bidirectional') return 'play';
  return parseKey(pairs.get('r') || pairs.get('u') || '');
}

function parseKey(key: string): StreamIdRequest {
  return /^[\x21-\x7e]+$/.test(key) && key.length <= MAX_KEY_CHARS ? { key } : 'unclear';
}
