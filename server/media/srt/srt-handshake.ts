/**
 * What the front of SRT must know of it (draft-sharabayko-srt-01): handshakes. All else passes
 * through unread.
 */

/** Header and fixed part of a handshake (sections 3 and 3.2.1). */
const HANDSHAKE_BYTES = 64;
/** No datagram of SRT is shorter than its header. */
export const HEADER_BYTES = 16;
/** Nor longer than what Ethernet carries. */
export const DATAGRAM_BYTES_MAX = 1_500;

// A control packet (first bit) of type 0.
const HANDSHAKE = 0x80000000;
const SHUTDOWN = 0x80050000;

// Where things are in a datagram.
const DESTINATION = 12;
const VERSION = 16;
const ENCRYPTION = 20;
const EXTENSIONS = 22;
const TYPE = 36;
const SOCKET_ID = 40;
const COOKIE = 44;

const VERSION_OF_UDT = 4;
const VERSION_OF_SRT = 5;
// Section 4.3.1.1: a listener that speaks version 5 says so by this.
const MAGIC = 0x4a17;
// Section 4.3.1.1: what a caller says in its place (SOCK_DGRAM).
const DATAGRAMS = 2;

const INDUCTION = 1;
const CONCLUSION = 0xffffffff;
// Section 3.2.1: all types from here on, as signed numbers, are refusals.
const REFUSALS = 1_000;
const REFUSALS_END = 0x7fffffff;

// Section 3.2.1, Extension Field: what follows has the keys of an encrypted connection.
const HAS_KEY_MATERIAL = 2;
const STREAM_ID_EXTENSION = 5;
// Section 3.2.1.3.
const STREAM_ID_BYTES_MAX = 512;

/** A handshake that a caller sends; one that a caller does not send is `other`. */
export interface Handshake {
  readonly type: 'induction' | 'conclusion' | 'other';
  readonly version: number;
  /** The caller's; what is sent to it carries this. */
  readonly socketId: number;
  readonly cookie: number;
  readonly isEncrypted: boolean;
}

/** @returns null when it is no handshake, or no whole one */
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

/** Whether this version of the protocol has stream ids. */
export function hasStreamIds({ version }: Handshake): boolean {
  return version === VERSION_OF_SRT;
}

/** Why a listener refuses, in its handshake; 0 when it does not. */
export function readRefusal(datagram: Buffer): number {
  if (datagram.length < HANDSHAKE_BYTES || datagram.readUInt32BE(0) !== HANDSHAKE) return 0;
  const type = datagram.readUInt32BE(TYPE);
  return type >= REFUSALS && type <= REFUSALS_END ? type - REFUSALS : 0;
}

/** A listener's answer to an induction (section 4.3.1.1): the caller's own, with the cookie. */
export function answerInduction(induction: Buffer, cookie: number): Buffer {
  const answer = Buffer.from(induction.subarray(0, HANDSHAKE_BYTES));
  answer.writeUInt32BE(induction.readUInt32BE(SOCKET_ID), DESTINATION);
  answer.writeUInt32BE(VERSION_OF_SRT, VERSION);
  answer.writeUInt16BE(0, ENCRYPTION);
  answer.writeUInt16BE(MAGIC, EXTENSIONS);
  answer.writeUInt32BE(cookie, COOKIE);
  return answer;
}

/** A listener's refusal of a conclusion. @param code of libsrt (`access_control.h`) */
export function refuse(conclusion: Buffer, code: number): Buffer {
  const answer = Buffer.from(conclusion.subarray(0, HANDSHAKE_BYTES));
  answer.writeUInt32BE(conclusion.readUInt32BE(SOCKET_ID), DESTINATION);
  answer.writeUInt32BE(0, ENCRYPTION);
  answer.writeUInt32BE(REFUSALS + code, TYPE);
  return answer;
}

/** Tells a caller that its connection is over (section 3.2.7). */
export function shutdown(socketId: number): Buffer {
  // One word of content: some read it, though it means nothing.
  const datagram = Buffer.alloc(HEADER_BYTES + 4);
  datagram.writeUInt32BE(SHUTDOWN);
  datagram.writeUInt32BE(socketId, DESTINATION);
  return datagram;
}

/** The induction that a caller with this conclusion sends first. */
export function inductionOf(conclusion: Buffer): Buffer {
  const induction = Buffer.from(conclusion.subarray(0, HANDSHAKE_BYTES));
  induction.writeUInt32BE(VERSION_OF_UDT, VERSION);
  induction.writeUInt16BE(0, ENCRYPTION);
  induction.writeUInt16BE(DATAGRAMS, EXTENSIONS);
  induction.writeUInt32BE(INDUCTION, TYPE);
  induction.writeUInt32BE(0, COOKIE);
  return induction;
}

/** The same conclusion for another listener. */
export function withCookie(conclusion: Buffer, cookie: number): Buffer {
  const changed = Buffer.from(conclusion);
  changed.writeUInt32BE(cookie, COOKIE);
  return changed;
}

/** The stream id of a conclusion (section 3.2.1.3); empty when it has none. */
export function readStreamId(conclusion: Buffer): string {
  let at = HANDSHAKE_BYTES;
  while (at + 4 <= conclusion.length) {
    const type = conclusion.readUInt16BE(at);
    const start = at + 4;
    const end = start + 4 * conclusion.readUInt16BE(at + 2);
    if (end > conclusion.length) return '';
    if (type === STREAM_ID_EXTENSION) return textOf(conclusion.subarray(start, end));
    at = end;
  }
  return '';
}

// Its words are in the other byte order, and filled up with NUL.
function textOf(words: Buffer): string {
  if (words.length > STREAM_ID_BYTES_MAX) return '';
  return Buffer.from(words).swap32().toString().replace(/\0+$/, '');
}
