import { runtime } from '../../platform/runtime.ts';
/** A WebSocket over which the service receives a stream's media (SPEC M-4). */
export interface SourceConnection {
  /** Sends bytes, or buffers them; see `bufferedBytes`. */
  send(bytes: Uint8Array): void;
  /** Bytes not yet handed to the network. */
  bufferedBytes(): number;
  /** Starts a normal close. */
  close(): void;
  /** Fulfilled when the connection has closed, from either side. */
  readonly closed: Promise<ConnectionClose>;
}

export interface ConnectionClose {
  /** A close code of M-4; 1006 for a broken connection. */
  readonly code: number;
  /** The service's reason; may be empty. */
  readonly reason: string;
}

/** The service rejected the source or could not be reached. */
export class ConnectionRefused extends Error {
  constructor(readonly close: ConnectionClose) {
    super(close.reason || `the service closed the connection (${close.code})`);
  }
}

const MEDIA_TYPES = { matroska: 'video/x-matroska', flv: 'video/x-flv' };
const NORMAL_CLOSURE = 1000;
const ABNORMAL_CLOSURE = 1006;
const ACCEPT_TIMEOUT_MS = 15_000;
// The service accepts messages of up to 4 MB.
const MAX_MESSAGE_BYTES = 1 << 20;

/**
 * Connects with a stream key.
 * @returns fulfilled when the service has accepted the source
 * @throws ConnectionRefused
 */
export function openSourceConnection(
  { url, key }: { readonly url: string; readonly key: string },
  container: keyof typeof MEDIA_TYPES,
): Promise<SourceConnection> {
  const socket = new WebSocket(url);
  const accepted = Promise.withResolvers<SourceConnection>();
  const closed = Promise.withResolvers<ConnectionClose>();
  const timer = runtime.setTimeout(
    () => finish({ code: ABNORMAL_CLOSURE, reason: `no response from ${url}` }),
    ACCEPT_TIMEOUT_MS,
  );
  const connection: SourceConnection = {
    send: (bytes) => {
      for (let start = 0; start < bytes.length; start += MAX_MESSAGE_BYTES) {
        if (socket.readyState !== WebSocket.OPEN) return;
        socket.send(bytes.subarray(start, start + MAX_MESSAGE_BYTES) as Uint8Array<ArrayBuffer>);
      }
    },
    bufferedBytes: () => socket.bufferedAmount,
    close: () => socket.close(NORMAL_CLOSURE),
    closed: closed.promise,
  };
  function finish(close: ConnectionClose): void {
    runtime.clearTimer(timer);
    accepted.reject(new ConnectionRefused(close));
    closed.resolve(close);
    socket.close();
  }
  const first = { key, type: MEDIA_TYPES[container], sender: 'media-play' };
  socket.onopen = () => socket.send(JSON.stringify(first));
  socket.onmessage = ({ data }) => {
    if (!isLiveMessage(data)) return;
    runtime.clearTimer(timer);
    accepted.resolve(connection);
  };
  // Every error is followed by a close event, which has the reason.
  socket.onclose = ({ code, reason }) => {
    finish({
      code,
      reason: reason || (code === ABNORMAL_CLOSURE ? `the connection to ${url} broke` : ''),
    });
  };
  return accepted.promise;
}

function isLiveMessage(message: unknown): boolean {
  try {
    return (JSON.parse(String(message)) as { state?: unknown } | null)?.state === 'live';
  } catch {
    return false;
  }
}
