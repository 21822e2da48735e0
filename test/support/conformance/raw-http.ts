import { connect } from 'node:net';

/** The bytes received on a separate connection, as Latin-1. */
export interface RawResponse {
  readonly text: string;
  /** Status of the first response; 0 when there was none. */
  readonly status: number;
  /** Whether the server closed the connection. */
  readonly closed: boolean;
  readonly elapsedMs: number;
}

export interface RawOptions {
  /** Closes the client side after the last part. */
  readonly end?: boolean;
  /** How long to wait, after the last part, for the server to close. */
  readonly waitMs?: number;
}

/**
 * Sends raw bytes, with pauses in between (numbers, in ms), and returns what was received until the
 * server closed the connection or the wait ended.
 */
export async function rawExchange(
  url: string,
  parts: readonly (string | Uint8Array | number)[],
  { end = false, waitMs = 250 }: RawOptions = {},
): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const startMs = performance.now();
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  let closed = false;
  const closedByServer = new Promise<void>((resolve) => {
    const close = () => {
      closed = true;
      resolve();
    };
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
    });
    socket.on('end', close);
    socket.on('error', close);
  });
  for (const part of parts) {
    if (closed) break;
    if (typeof part === 'number') await Promise.race([closedByServer, Bun.sleep(part)]);
    else socket.write(part);
  }
  if (end && !closed) socket.end();
  await Promise.race([closedByServer, Bun.sleep(waitMs)]);
  socket.destroy();
  const elapsedMs = performance.now() - startMs;
  return { text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), closed, elapsedMs };
}

const DEFAULT_HEADERS = { Host: '127.0.0.1', Connection: 'close' };

/** The head of a request, from its first line on; `Host` and `Connection: close` are added. */
export function rawHead(firstLine: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ ...DEFAULT_HEADERS, ...headers }).map(([k, v]) => `${k}: ${v}`);
  return `${firstLine} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** The body of a single raw response. */
export function rawBody({ text }: RawResponse): string {
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

/** Converts a raw response to a `Response`. */
export function responseOf({ text, status }: RawResponse): Response {
  const head = text.slice(text.indexOf('\r\n') + 2, text.indexOf('\r\n\r\n'));
  const headers = head.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return new Response(rawBody({ text, status, closed: true, elapsedMs: 0 }), { status, headers });
}
