/** A protocol that pushes messages over an open connection. */
export interface PushProtocol {
  /** The bytes that open the connection, for the viewer with this token. */
  opening(token: string): string;
  /** Parses the complete messages; `reply` sends protocol responses. @throws Error for an unexpected one */
  parse(bytes: Buffer, reply: (bytes: Buffer) => void): ParsedMessages;
}

interface ParsedMessages {
  /** Number of bytes that were parsed. */
  readonly used: number;
  /** The bodies of intervals in these bytes, in order. */
  readonly bodies: readonly string[];
  /** Whether the connection is open for messages. */
  readonly isOpen: boolean;
}

/** Host and path of the request that opens the connection. */
interface PushTarget {
  readonly host: string;
  readonly path: string;
}

export const PUSH_PROTOCOLS = { 'event-stream': eventStream, websocket, 'socket.io': socketIo };
export type PushProtocolName = keyof typeof PUSH_PROTOCOLS;

/** Server-sent events. Each message must be in one chunk of the response. */
function eventStream({ host, path }: PushTarget): PushProtocol {
  return {
    opening: (token) =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
      'Accept: text/event-stream\r\n\r\n',
    parse: (bytes) => {
      const text = bytes.toString();
      const bodies: string[] = [];
      let used = headEnd(text, 200);
      for (const { 0: all, 1: body = '', index } of text.matchAll(/data: (.*)\n\n(?:\r\n)?/g)) {
        bodies.push(body);
        used = index + all.length;
      }
      return { used, bodies, isOpen: true };
    },
  };
}

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const SHORT_MAX = 125;
const MASKED = 0x80;

/** WebSocket with one text message per interval. */
function websocket({ host, path }: PushTarget): PushProtocol {
  return {
    opening: () =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    parse: (bytes, reply) => {
      let used = bytes[0] === 'H'.charCodeAt(0) ? headEnd(bytes.toString('latin1'), 101) : 0;
      const bodies: string[] = [];
      for (let frame = frameAt(bytes, used); frame; frame = frameAt(bytes, used)) {
        used = frame.endAt;
        if (frame.kind === TEXT) bodies.push(frame.text);
        else if (frame.kind === PING) reply(frameOf(PONG, frame.text));
        else if (frame.kind === CLOSE) throw new Error('the other side closed the WebSocket');
      }
      return { used, bodies, isOpen: used > 0 };
    },
  };
}

/** Engine.IO 4 and Socket.IO 5 over WebSocket: the event's only argument is the interval. */
function socketIo(target: PushTarget): PushProtocol {
  const { opening, parse } = websocket(target);
  return {
    opening,
    parse: (bytes, reply) => {
      const { used, bodies: packets } = parse(bytes, reply);
      const bodies: string[] = [];
      let isOpen = false;
      for (const packet of packets) {
        if (packet.startsWith('0')) reply(frameOf(TEXT, '40'));
        else if (packet.startsWith('40')) isOpen = true;
        else if (packet === '2') reply(frameOf(TEXT, '3'));
        else bodies.push(packet.slice(packet.indexOf(',') + 1, -1));
      }
      return { used, bodies, isOpen };
    },
  };
}

/** Offset of the end of a response head; 0 when there is none. @throws Error for another status */
function headEnd(text: string, status: number): number {
  if (!text.startsWith('HTTP/1.1 ')) return 0;
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return 0;
  if (!text.startsWith(String(status), 'HTTP/1.1 '.length)) throw new Error(text.slice(0, 300));
  return end + '\r\n\r\n'.length;
}

function frameAt(bytes: Buffer, at: number) {
  if (bytes.length < at + 2) return null;
  const kind = (bytes[at] as number) & 15;
  const length7 = bytes[at + 1] as number;
  if (length7 > SHORT_MAX + 1) throw new Error('a frame of more than 64 KB');
  const isLong = length7 > SHORT_MAX;
  if (isLong && bytes.length < at + 4) return null;
  const bodyAt = at + (isLong ? 4 : 2);
  const endAt = bodyAt + (isLong ? bytes.readUInt16BE(at + 2) : length7);
  return bytes.length < endAt ? null : { kind, text: bytes.toString('utf8', bodyAt, endAt), endAt };
}

/** A client frame, with a mask of zeros. */
function frameOf(kind: number, text: string): Buffer {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from([MASKED | kind, MASKED | body.length, 0, 0, 0, 0]), body]);
}
