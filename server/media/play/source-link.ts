/** A WebSocket that the service takes a stream's video from (SPEC M-4). */
export interface SourceLink {
  /** What is sent is kept until the line takes it; see `waitingBytes`. */
  send(bytes: Uint8Array): void;
  /** Bytes that the line has not taken. */
  waitingBytes(): number;
  /** Says that nothing follows. */
  close(): void;
  /** Fulfilled when the link is over, whoever ended it. */
  readonly closed: Promise<LinkEnd>;
}

/** How a link ended. */
export interface LinkEnd {
  /** As in M-4; 1006 when the line broke. */
  readonly code: number;
  /** What the service said; may be empty. */
  readonly reason: string;
}

/** The service did not take the source, or there is no line to it. */
export class LinkRefused extends Error {
  constructor(readonly end: LinkEnd) {
    super(end.reason || `the service closed the connection (${end.code})`);
  }
}

const MEDIA_TYPES = { matroska: 'video/x-matroska', flv: 'video/x-flv' };
const NORMAL = 1000;
const BROKEN = 1006;
const ANSWER_MS = 15_000;
// The service takes messages of up to 4 MB.
const MESSAGE_BYTES = 1 << 20;

/**
 * Opens a link with a stream key.
 * @returns fulfilled when the service has taken the source
 * @throws LinkRefused
 */
export function openSourceLink(
  { url, key }: { readonly url: string; readonly key: string },
  container: keyof typeof MEDIA_TYPES,
): Promise<SourceLink> {
  const socket = new WebSocket(url);
  const taken = Promise.withResolvers<SourceLink>();
  const closed = Promise.withResolvers<LinkEnd>();
  const tooLong = setTimeout(
    () => end({ code: BROKEN, reason: `no answer from ${url}` }),
    ANSWER_MS,
  );
  const link: SourceLink = {
    send: (bytes) => {
      for (let start = 0; start < bytes.length; start += MESSAGE_BYTES) {
        if (socket.readyState !== WebSocket.OPEN) return;
        socket.send(bytes.subarray(start, start + MESSAGE_BYTES) as Uint8Array<ArrayBuffer>);
      }
    },
    waitingBytes: () => socket.bufferedAmount,
    close: () => socket.close(NORMAL),
    closed: closed.promise,
  };
  function end(how: LinkEnd): void {
    clearTimeout(tooLong);
    taken.reject(new LinkRefused(how));
    closed.resolve(how);
    socket.close();
  }
  socket.onopen = () => socket.send(JSON.stringify({ key, type: MEDIA_TYPES[container] }));
  socket.onmessage = ({ data }) => {
    if (!isLive(data)) return;
    clearTimeout(tooLong);
    taken.resolve(link);
  };
  // A close follows each error, and tells more.
  socket.onclose = ({ code, reason }) => {
    end({ code, reason: reason || (code === BROKEN ? `the connection to ${url} broke` : '') });
  };
  return taken.promise;
}

function isLive(message: unknown): boolean {
  try {
    return (JSON.parse(String(message)) as { state?: unknown } | null)?.state === 'live';
  } catch {
    return false;
  }
}
