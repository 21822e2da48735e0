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

export interface RtmpMessage {
  readonly type: number;
  /** Message stream id; 0 for the connection itself. */
  readonly streamId: number;
  /** 0 ≤ ms < 2^32. */
  readonly timestampMs: number;
  readonly payload: Uint8Array;
}

/** The peer violates the protocol or a limit; the message is for the log. */
export class RtmpError extends Error {}

/** Creates a protocol control message with 32-bit values. */
export function controlMessage(type: number, ...values: number[]): RtmpMessage {
  const payload = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) payload.writeUInt32BE(value >>> 0, 4 * index);
  return { type, streamId: 0, timestampMs: 0, payload };
}

/** Creates a user control message. @param value stream id, or the value to echo */
export function userControl(event: number, value: number): RtmpMessage {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(event, 0);
  payload.writeUInt32BE(value >>> 0, 2);
  return { type: USER_CONTROL, streamId: 0, timestampMs: 0, payload };
}

/** The response to a ping; null for other user control messages. */
export function pongFor({ payload }: RtmpMessage): RtmpMessage | null {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  if (view.byteLength < 6 || view.getUint16(0) !== PING_REQUEST) return null;
  return userControl(PING_RESPONSE, view.getUint32(2));
}

/** Reads a 32-bit value of a control message. @throws RtmpError when it is truncated */
export function uint32Of(message: RtmpMessage, offset = 0): number {
  const { payload } = message;
  if (payload.length < offset + 4)
    throw new RtmpError(`a message of type ${message.type} is truncated`);
  return new DataView(payload.buffer, payload.byteOffset).getUint32(offset);
}
