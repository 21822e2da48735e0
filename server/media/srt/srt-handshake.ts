/**
 * Handshake datagrams of SRT (draft-sharabayko-srt-01), the only part of the protocol that the proxy
 * reads.
 */

/** Header and fixed part of a handshake (sections 3 and 3.2.1). */
const HANDSHAKE_BYTES = 64;
/** Minimum length of an SRT datagram. */
export const HEADER_BYTES = 16;
/** Maximum length: an Ethernet payload. */
export const MAX_DATAGRAM_BYTES = 1_500;

// Control packet (first bit) of type 0.
const HANDSHAKE = 0x80000000;
const SHUTDOWN = 0x80050000;

// Byte offsets in a handshake.
const DESTINATION = 12;
const VERSION = 16;
const ENCRYPTION = 20;
const EXTENSIONS = 22;
const TYPE = 36;
const SOCKET_ID = 40;
const COOKIE = 44;

const VERSION_OF_UDT = 4;
const VERSION_OF_SRT = 5;
// Section 4.3.1.1: marks a listener with version 5.
const MAGIC = 0x4a17;
// Section 4.3.1.1: the caller's value in the same field (SOCK_DGRAM).
const DATAGRAMS = 2;

const INDUCTION = 1;
const CONCLUSION = 0xffffffff;
// Section 3.2.1: handshake types in this range are rejections.
const REJECTIONS_START = 1_000;
const REJECTIONS_END = 0x7fffffff;

// Section 3.2.1, Extension Field: key material of an encrypted connection follows.
const HAS_KEY_MATERIAL = 2;
const STREAM_ID_EXTENSION = 5;
// Not in the draft: `SRT_CMD_FILTER` of libsrt.
const PACKET_FILTER_EXTENSION = 7;
// Section 3.2.1.3.
const MAX_STREAM_ID_BYTES = 512;

/** A handshake of a caller; types that callers do not send are `other`. */
export interface Handshake {
  readonly type: 'induction' | 'conclusion' | 'other';
  readonly version: number;
  /** The caller's socket id; datagrams to it carry it as destination. */
  readonly socketId: number;
  readonly cookie: number;
  readonly isEncrypted: boolean;
}

/** @returns null when the datagram is not a complete handshake */
export function readHandshake(datagram: Buffer): Handshake | null {
  if (datagram.length < HANDSHAKE_BYTES || datagram.readUInt32BE(0) !== HANDSHAKE) return null;
  const type = datagram.readUInt32BE(TYPE);
  return {
    type: type === INDUCTION ? 'induction' : type === CONCLUSION ? 'conclusion' : 'other',
    version: datagram.readUInt32BE(VERSION),
    socketId: datagram.readUInt32BE(SOCKET_ID),
    cookie: datagram.readUInt32BE(COOKIE),
    isEncrypted:
      datagram.readUInt16BE(ENCRYPTION) !== 0 ||
      (type === CONCLUSION && (datagram.readUInt16BE(EXTENSIONS) & HAS_KEY_MATERIAL) !== 0),
  };
}

/** Whether the handshake's protocol version supports stream ids. */
export function hasStreamIds({ version }: Handshake): boolean {
  return version === VERSION_OF_SRT;
}

/** Rejection code of a listener's handshake; 0 for none. */
export function readRejection(datagram: Buffer): number {
  if (datagram.length < HANDSHAKE_BYTES || datagram.readUInt32BE(0) !== HANDSHAKE) return 0;
  const type = datagram.readUInt32BE(TYPE);
  return type >= REJECTIONS_START && type <= REJECTIONS_END ? type - REJECTIONS_START : 0;
}

/** Creates the response to an induction (section 4.3.1.1), with the cookie. */
export function inductionResponse(induction: Buffer, cookie: number): Buffer {
  const response = Buffer.from(induction.subarray(0, HANDSHAKE_BYTES));
  response.writeUInt32BE(induction.readUInt32BE(SOCKET_ID), DESTINATION);
  response.writeUInt32BE(VERSION_OF_SRT, VERSION);
  response.writeUInt16BE(0, ENCRYPTION);
  response.writeUInt16BE(MAGIC, EXTENSIONS);
  response.writeUInt32BE(cookie, COOKIE);
  return response;
}

/** Creates the rejection of a conclusion. @param code see `REJECTIONS` */
export function createRejection(conclusion: Buffer, code: number): Buffer {
  const response = Buffer.from(conclusion.subarray(0, HANDSHAKE_BYTES));
  response.writeUInt32BE(conclusion.readUInt32BE(SOCKET_ID), DESTINATION);
  response.writeUInt32BE(0, ENCRYPTION);
  response.writeUInt32BE(REJECTIONS_START + code, TYPE);
  return response;
}

/** Creates a shutdown packet (section 3.2.7). */
export function createShutdown(socketId: number): Buffer {
  // Some implementations expect one word of content.
  const datagram = Buffer.alloc(HEADER_BYTES + 4);
  datagram.writeUInt32BE(SHUTDOWN);
  datagram.writeUInt32BE(socketId, DESTINATION);
  return datagram;
}

/** Creates the induction of the caller that sent this conclusion. */
export function inductionOf(conclusion: Buffer): Buffer {
  const induction = Buffer.from(conclusion.subarray(0, HANDSHAKE_BYTES));
  induction.writeUInt32BE(VERSION_OF_UDT, VERSION);
  induction.writeUInt16BE(0, ENCRYPTION);
  induction.writeUInt16BE(DATAGRAMS, EXTENSIONS);
  induction.writeUInt32BE(INDUCTION, TYPE);
  induction.writeUInt32BE(0, COOKIE);
  return induction;
}

/** A copy of a conclusion with another cookie. */
export function withCookie(conclusion: Buffer, cookie: number): Buffer {
  const changed = Buffer.from(conclusion);
  changed.writeUInt32BE(cookie, COOKIE);
  return changed;
}

/** Stream id of a conclusion (section 3.2.1.3); empty without one. */
export function readStreamId(conclusion: Buffer): string {
  const extension = extensionsOf(conclusion).find(({ type }) => type === STREAM_ID_EXTENSION);
  return extension ? decodeText(extension.content) : '';
}

/** Whether the sender asks for a packet filter, such as forward error correction. */
export function hasPacketFilter(conclusion: Buffer): boolean {
  return extensionsOf(conclusion).some(({ type }) => type === PACKET_FILTER_EXTENSION);
}

interface Extension {
  readonly type: number;
  readonly content: Buffer;
}

/** The extensions of a conclusion (section 3.2.1), up to one that is not complete. */
function extensionsOf(conclusion: Buffer): Extension[] {
  const extensions: Extension[] = [];
  let offset = HANDSHAKE_BYTES;
  while (offset + 4 <= conclusion.length) {
    const start = offset + 4;
    const end = start + 4 * conclusion.readUInt16BE(offset + 2);
    if (end > conclusion.length) break;
    extensions.push({
      type: conclusion.readUInt16BE(offset),
      content: conclusion.subarray(start, end),
    });
    offset = end;
  }
  return extensions;
}

// The extension stores 32-bit words in little-endian order, padded with NUL.
function decodeText(words: Buffer): string {
  if (words.length > MAX_STREAM_ID_BYTES) return '';
  const [text = ''] = Buffer.from(words).swap32().toString().split('\0', 1);
  return text;
}
