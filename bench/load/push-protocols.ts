/** How messages come over a connection that stays open. */
export interface PushProtocol {
  /** What opens it, for the viewer with this token. */
  opening(token: string): string;
  /** Takes what is complete out of the bytes; what must be answered is sent at once. */
  take(bytes: Buffer, reply: (bytes: Buffer) => void): Taken;
}

export interface Taken {
  /** How many of the bytes are done with. */
  readonly used: number;
  /** The bodies of intervals among them, in order. */
  readonly bodies: readonly string[];
  /** Whether messages come from now on. */
  readonly isOpen: boolean;
}

/** Where it is opened. */
export interface PushPlace {
  readonly host: string;
  /** The path; `INTERVAL` in it is the first that is wanted. */
  readonly path: string;
}

export const PUSH_PROTOCOLS = { 'event-stream': eventStream, websocket, 'socket.io': socketIo };
export type PushProtocolName = keyof typeof PUSH_PROTOCOLS;

/** Server-sent events. A message is in one chunk of the answer, or the body in it is no JSON. */
function eventStream({ host, path }: PushPlace): PushProtocol {
  return {
    opening: (token) =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
      'Accept: text/event-stream\r\n\r\n',
    take: (bytes) => {
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

/** WebSocket, each message a text of its own. */
function websocket({ host, path }: PushPlace): PushProtocol {
  return {
    opening: () =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    take: (bytes, reply) => {
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
function socketIo(place: PushPlace): PushProtocol {
  const { opening, take } = websocket(place);
  return {
    opening,
    take: (bytes, reply) => {
      const { used, bodies: packets } = take(bytes, reply);
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

/** Where the head of an answer ends; 0 when there is none. @throws Error when it has another status */
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
  const short = bytes[at + 1] as number;
  if (short > SHORT_MAX + 1) throw new Error('a frame of more than 64 KB');
  const isLong = short > SHORT_MAX;
  if (isLong && bytes.length < at + 4) return null;
  const bodyAt = at + (isLong ? 4 : 2);
  const endAt = bodyAt + (isLong ? bytes.readUInt16BE(at + 2) : short);
  return bytes.length < endAt ? null : { kind, text: bytes.toString('utf8', bodyAt, endAt), endAt };
}

/** A frame as clients send it; the mask may be zeros. */
function frameOf(kind: number, text: string): Buffer {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from([MASKED | kind, MASKED | body.length, 0, 0, 0, 0]), body]);
}
