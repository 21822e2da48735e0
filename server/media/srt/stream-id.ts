// SRT Access Control Guidelines: what a text of key-value pairs begins with.
const PAIRS = '#!::';
const PREFIX = 'publish:';

// Longer than any stream key.
const KEY_CHARS_MAX = 128;

/** What a stream id asks for. */
export type StreamIdRequest =
  | { readonly key: string }
  /** It wants to receive, which is not for SRT. */
  | 'play'
  /** It names no key. */
  | 'unclear';

/**
 * Reads a stream id (SPEC M-3): `publish:KEY`, `KEY`, or what the SRT Access Control Guidelines
 * write as `#!::m=publish,r=KEY` (or `u=KEY`). Some senders, such as ffmpeg 5, send it as it is
 * written in an address, so it may be percent-encoded.
 */
export function readStreamIdRequest(sent: string): StreamIdRequest {
  const streamId = unescaped(sent);
  if (streamId.startsWith(PAIRS)) return requestOfPairs(streamId.slice(PAIRS.length));
  if (/^(?:play|read|request):/.test(streamId)) return 'play';
  return requestOf(streamId.startsWith(PREFIX) ? streamId.slice(PREFIX.length) : streamId);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function requestOfPairs(text: string): StreamIdRequest {
  const pairs = new Map(
    text.split(',').map((pair): [string, string] => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), value.join('=').trim()];
    }),
  );
  // `request` is what stands for no mode, but all that name a key here mean to send.
  const mode = pairs.get('m') ?? 'publish';
  if (mode !== 'publish' && mode !== 'bidirectional') return 'play';
  return requestOf(pairs.get('r') || pairs.get('u') || '');
}

function requestOf(key: string): StreamIdRequest {
  return /^[\x21-\x7e]+$/.test(key) && key.length <= KEY_CHARS_MAX ? { key } : 'unclear';
}
