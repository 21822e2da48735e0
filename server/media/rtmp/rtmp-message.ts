/** Types of RTMP messages (Adobe RTMP 1.0, 5.4 and 7.1). */
export const SET_CHUNK_SIZE = 1;
export const ABORT = 2;
export const ACKNOWLEDGEMENT = 3;
export const USER_CONTROL = 4;
export const WINDOW_SIZE = 5;
export const PEER_BANDWIDTH = 6;
export const AUDIO = 8;
export const VIDEO = 9;
export const DATA_AMF3 = 15;
export const COMMAND_AMF3 = 17;
export const DATA = 18;
export const COMMAND = 20;
export const AGGREGATE = 22;

/** Events of user control messages (7.1.7). */
export const STREAM_BEGIN = 0;
export const PING_REQUEST = 6;
export const PING_RESPONSE = 7;

/** A whole message. */
export interface RtmpMessage {
  readonly type: number;
  /** The stream it belongs to; 0 for the connection itself. */
  readonly streamId: number;
  /** 0 ≤ ms < 2^32. */
  readonly timestampMs: number;
  readonly payload: Uint8Array;
}

/** What a peer sends is no RTMP, or more than it may send; the message is for the log. */
export class RtmpError extends Error {}

/** A protocol control message whose payload is numbers of 32 bits. */
export function controlMessage(type: number, ...values: number[]): RtmpMessage {
  const payload = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) payload.writeUInt32BE(value >>> 0, 4 * index);
  return { type, streamId: 0, timestampMs: 0, payload };
}

/** A user control message. @param value the stream, or what is to be echoed */
export function userControl(event: number, value: number): RtmpMessage {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(event, 0);
  payload.writeUInt32BE(value >>> 0, 2);
  return { type: USER_CONTROL, streamId: 0, timestampMs: 0, payload };
}

/** What a user control message is answered with, when it is a ping. */
export function pingAnswer({ payload }: RtmpMessage): RtmpMessage | null {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  if (view.byteLength < 6 || view.getUint16(0) !== PING_REQUEST) return null;
  return userControl(PING_RESPONSE, view.getUint32(2));
}

/** The number of 32 bits that a control message begins with. @throws RtmpError it has none */
export function uint32Of(message: RtmpMessage, at = 0): number {
  const { payload } = message;
  if (payload.length < at + 4) throw new RtmpError(`a message of type ${message.type} is cut off`);
  return new DataView(payload.buffer, payload.byteOffset).getUint32(at);
}
