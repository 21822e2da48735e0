import { connect } from 'node:net';

/** What a client sends on one connection, and when it has its answer. */
export interface Exchange {
  /** Bytes as Latin-1, with pauses in between (numbers, in ms). */
  readonly parts: readonly (string | Uint8Array | number)[];
  /** The number of responses after which the client closes the connection. */
  readonly responses: number;
  /** Closes without waiting for a response. */
  readonly abandons?: boolean;
  /** Leaves it to the server to end the connection, however long that takes. */
  readonly staysOpen?: boolean;
  /** Whether the first response is to HEAD. */
  readonly isHead?: boolean;
  /** The loopback address to send from. */
  readonly localAddress?: string;
}

/** A parsed response. */
export interface RawResponse {
  readonly status: number;
  /** The head, with lower-case names; one line each. */
  readonly head: string;
  readonly body: string;
}

/** What the client saw. */
export interface ExchangeResult {
  readonly responses: readonly RawResponse[];
  /** Everything received, as Latin-1; at most 1 MB. */
  readonly text: string;
  readonly isClosedByServer: boolean;
  /** Whether neither the responses nor the end of the connection came in time. */
  readonly isHang: boolean;
}

/** SPEC L-3 and L-2 end every silent request earlier. */
const HANG_MS = 16_000;
/** How long a client waits before it ends its half of the connection: then the server must end the other. */
const PATIENCE_MS = 60;
const TEXT_CHARS_MAX = 1_000_000;

/** Sends an exchange on a connection of its own, and resolves when it is over. */
export function exchange(url: URL, wanted: Exchange): Promise<ExchangeResult> {
  const { parts, responses, isHead = false, localAddress } = wanted;
  return new Promise((resolve) => {
    const address = { host: url.hostname, port: Number(url.port), allowHalfOpen: true };
    const socket = connect({ ...address, ...(localAddress && { localAddress }) });
    let text = '';
    let isOver = false;
    const finish = (isClosedByServer: boolean, isHang: boolean) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      socket.destroy();
      resolve({ responses: parseResponses(text, isHead), text, isClosedByServer, isHang });
    };
    const timer = setTimeout(() => finish(false, true), HANG_MS);
    socket.on('data', (bytes: Buffer) => {
      if (text.length < TEXT_CHARS_MAX) text += bytes.toString('latin1');
      if (Number.isFinite(responses) && countFinal(text, isHead) >= responses) finish(false, false);
    });
    socket.on('end', () => finish(true, false));
    socket.on('error', () => finish(true, false));
    void sendParts(socket, parts, () => isOver).then(async () => {
      if (wanted.abandons) finish(false, false);
      if (isOver || wanted.staysOpen || Number.isFinite(responses)) return;
      await Bun.sleep(PATIENCE_MS);
      if (!isOver) socket.end();
    });
  });
}

async function sendParts(
  socket: ReturnType<typeof connect>,
  parts: Exchange['parts'],
  isOver: () => boolean,
): Promise<void> {
  for (const part of parts) {
    if (isOver()) return;
    if (typeof part === 'number') await Bun.sleep(part);
    else socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
  }
}

const countFinal = (text: string, isHead: boolean) =>
  parseResponses(text, isHead).filter(({ status }) => status >= 200).length;

/** The complete responses at the beginning of a text. An event stream counts with its head. */
export function parseResponses(text: string, isHead = false): RawResponse[] {
  const responses: RawResponse[] = [];
  let at = 0;
  while (text.startsWith('HTTP/1.1 ', at)) {
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd < 0) break;
    const head = text.slice(at, headEnd).toLowerCase();
    const status = Number(head.slice(9, 12));
    const isToHead = isHead && responses.every((earlier) => earlier.status < 200);
    const hasBody = !isToHead && status >= 200 && status !== 204 && status !== 304;
    const body = hasBody ? bodyAt(text, headEnd + 4, head) : { text: '', end: headEnd + 4 };
    if (body === null) break;
    responses.push({ status, head, body: body.text });
    at = body.end;
  }
  return responses;
}

function bodyAt(text: string, from: number, head: string) {
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length !== undefined) {
    const end = from + Number(length);
    return end <= text.length ? { text: text.slice(from, end), end } : null;
  }
  const isStream = head.includes('text/event-stream');
  if (!head.includes('transfer-encoding: chunked') || isStream) {
    return { text: text.slice(from), end: text.length };
  }
  return chunkedBodyAt(text, from);
}

function chunkedBodyAt(text: string, from: number) {
  let body = '';
  let at = from;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const bytes = Number.parseInt(text.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + bytes + 2;
    if (!(end <= text.length)) return null;
    if (bytes === 0) return { text: body, end };
    body += text.slice(lineEnd + 2, end - 2);
    at = end;
  }
}
