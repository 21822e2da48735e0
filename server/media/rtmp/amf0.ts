import { RtmpError } from './rtmp-message.ts';

/** A value of AMF0. Objects, typed ones and ECMA arrays are all records. */
export type AmfValue =
  | number
  | boolean
  | string
  | null
  | undefined
  | Date
  | readonly AmfValue[]
  | AmfObject;

/** Has no prototype, so that no name means anything but a member. */
export interface AmfObject {
  readonly [name: string]: AmfValue;
}

const NUMBER = 0;
const BOOLEAN = 1;
const STRING = 2;
const OBJECT = 3;
const NULL = 5;
const UNDEFINED = 6;
const ECMA_ARRAY = 8;
const OBJECT_END = 9;
const STRICT_ARRAY = 10;
const DATE = 11;
const LONG_STRING = 12;
const UNSUPPORTED = 13;
const XML = 15;
const TYPED_OBJECT = 16;

/** Encoders nest two deep. */
const DEPTH_MAX = 8;
/** Values in one message; descriptions of a stream have about twenty. */
const VALUES_MAX = 1_000;

/**
 * Reads the values that a message consists of (Adobe AMF 0, 2).
 * @throws RtmpError they are cut off, too many, too deep, or of a type that no encoder sends
 */
export function readAmf(bytes: Uint8Array): AmfValue[] {
  const reader = new AmfReader(bytes);
  const values: AmfValue[] = [];
  while (reader.hasMore()) values.push(reader.value(0));
  return values;
}

class AmfReader {
  private readonly bytes: Buffer;
  private at = 0;
  private values = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  hasMore(): boolean {
    return this.at < this.bytes.length;
  }

  value(depth: number): AmfValue {
    this.values++;
    if (depth > DEPTH_MAX || this.values > VALUES_MAX) throw new RtmpError('AMF: too much');
    const type = this.take(1)[0];
    switch (type) {
      case NUMBER:
        return this.take(8).readDoubleBE();
      case BOOLEAN:
        return this.take(1)[0] !== 0;
      case STRING:
        return this.text(this.take(2).readUInt16BE());
      case NULL:
        return null;
      case UNDEFINED:
      case UNSUPPORTED:
        return undefined;
      case DATE:
        return this.date();
      case LONG_STRING:
      case XML:
        return this.text(this.take(4).readUInt32BE());
      case STRICT_ARRAY:
        return this.array(depth);
      default:
        return this.record(type, depth);
    }
  }

  private record(type: number | undefined, depth: number): AmfObject {
    // The number of members is a hint alone; an end follows them.
    if (type === ECMA_ARRAY) this.take(4);
    else if (type === TYPED_OBJECT) this.text(this.take(2).readUInt16BE());
    else if (type !== OBJECT) throw new RtmpError(`AMF: type ${type}`);
    const members: Record<string, AmfValue> = Object.create(null);
    for (;;) {
      const name = this.text(this.take(2).readUInt16BE());
      if (name === '' && this.bytes[this.at] === OBJECT_END) break;
      members[name] = this.value(depth + 1);
    }
    this.take(1);
    return members;
  }

  private array(depth: number): AmfValue[] {
    const length = this.take(4).readUInt32BE();
    if (length > VALUES_MAX) throw new RtmpError('AMF: too much');
    return Array.from({ length }, () => this.value(depth + 1));
  }

  private date(): Date {
    const date = new Date(this.take(8).readDoubleBE());
    // A time zone, which is to be ignored (2.13).
    this.take(2);
    return date;
  }

  private text(length: number): string {
    return this.take(length).toString('utf8');
  }

  private take(length: number): Buffer {
    const end = this.at + length;
    if (end > this.bytes.length) throw new RtmpError('AMF: cut off');
    const part = this.bytes.subarray(this.at, end);
    this.at = end;
    return part;
  }
}

/** Writes values one after the other. */
export function writeAmf(values: readonly AmfValue[]): Uint8Array {
  return Buffer.concat(values.map(written));
}

function written(value: AmfValue): Uint8Array {
  if (value === null) return Uint8Array.of(NULL);
  if (value === undefined) return Uint8Array.of(UNDEFINED);
  if (typeof value === 'number') return numeric(NUMBER, value);
  if (typeof value === 'boolean') return Uint8Array.of(BOOLEAN, value ? 1 : 0);
  if (typeof value === 'string') return text(value);
  if (value instanceof Date)
    return Buffer.concat([numeric(DATE, value.getTime()), Buffer.alloc(2)]);
  if (isArray(value)) {
    return Buffer.concat([counted(STRICT_ARRAY, value.length), ...value.map(written)]);
  }
  const members = Object.entries(value).flatMap(([name, member]) => [
    shortText(name),
    written(member),
  ]);
  return Buffer.concat([Uint8Array.of(OBJECT), ...members, Uint8Array.of(0, 0, OBJECT_END)]);
}

function isArray(value: readonly AmfValue[] | AmfObject): value is readonly AmfValue[] {
  return Array.isArray(value);
}

function numeric(type: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(9);
  bytes[0] = type;
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

function text(value: string): Uint8Array {
  const length = Buffer.byteLength(value);
  if (length <= 0xffff) return Buffer.concat([Uint8Array.of(STRING), shortText(value)]);
  return Buffer.concat([counted(LONG_STRING, length), Buffer.from(value)]);
}

function shortText(value: string): Uint8Array {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function counted(type: number, count: number): Uint8Array {
  const bytes = Buffer.alloc(5);
  bytes[0] = type;
  bytes.writeUInt32BE(count, 1);
  return bytes;
}
