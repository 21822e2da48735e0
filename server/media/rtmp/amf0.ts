import { RtmpError } from './rtmp-message.ts';

/** An AMF0 value. Objects, typed objects and ECMA arrays are all read as `AmfObject`. */
export type AmfValue =
  | number
  | boolean
  | string
  | null
  | undefined
  | Date
  | readonly AmfValue[]
  | AmfObject;

/** Has no prototype, so that every name is a plain member. */
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

/** Encoders nest two levels. */
const MAX_DEPTH = 8;
/** Values per message, or in all commands of a connection; stream metadata has about twenty. 1,000 take 0.6 ms. */
export const MAX_VALUES = 1_000;

/** How many values may still be read. */
export interface AmfBudget {
  left: number;
}

/**
 * Reads all values of a message (Adobe AMF 0, 2).
 * @param budget is reduced by the number of values
 * @throws RtmpError for truncated input, too many values, too deep nesting or an unsupported type
 */
export function readAmf(bytes: Uint8Array, budget: AmfBudget = { left: MAX_VALUES }): AmfValue[] {
  const reader = new AmfReader(bytes, budget);
  const values: AmfValue[] = [];
  while (reader.hasMore()) values.push(reader.value(0));
  return values;
}

class AmfReader {
  private readonly bytes: Buffer;
  private offset = 0;

  constructor(
    bytes: Uint8Array,
    private readonly budget: AmfBudget,
  ) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  hasMore(): boolean {
    return this.offset < this.bytes.length;
  }

  value(depth: number): AmfValue {
    this.budget.left--;
    if (depth > MAX_DEPTH || this.budget.left < 0) throw new RtmpError('AMF: too many values');
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
        return this.object(type, depth);
    }
  }

  private object(type: number | undefined, depth: number): AmfObject {
    // The member count is only a hint; an end marker follows the members.
    if (type === ECMA_ARRAY) this.take(4);
    else if (type === TYPED_OBJECT) this.text(this.take(2).readUInt16BE());
    else if (type !== OBJECT) throw new RtmpError(`AMF: unsupported type ${type}`);
    const members: Record<string, AmfValue> = Object.create(null);
    for (;;) {
      const name = this.text(this.take(2).readUInt16BE());
      if (name === '' && this.bytes[this.offset] === OBJECT_END) break;
      const value = this.value(depth + 1);
      // The runtime stores numbers as names in an array: 13 of them take a megabyte.
      if (!/^\d/.test(name)) members[name] = value;
    }
    this.take(1);
    return members;
  }

  private array(depth: number): AmfValue[] {
    const length = this.take(4).readUInt32BE();
    if (length > MAX_VALUES) throw new RtmpError('AMF: too many values');
    return Array.from({ length }, () => this.value(depth + 1));
  }

  private date(): Date {
    const date = new Date(this.take(8).readDoubleBE());
    // Skip the time zone, which is reserved (2.13).
    this.take(2);
    return date;
  }

  private text(length: number): string {
    return this.take(length).toString('utf8');
  }

  private take(length: number): Buffer {
    const end = this.offset + length;
    if (end > this.bytes.length) throw new RtmpError('AMF: truncated');
    const part = this.bytes.subarray(this.offset, end);
    this.offset = end;
    return part;
  }
}

export function writeAmf(values: readonly AmfValue[]): Uint8Array {
  return Buffer.concat(values.map(encode));
}

function encode(value: AmfValue): Uint8Array {
  if (value === null) return Uint8Array.of(NULL);
  if (value === undefined) return Uint8Array.of(UNDEFINED);
  if (typeof value === 'number') return encodeNumber(NUMBER, value);
  if (typeof value === 'boolean') return Uint8Array.of(BOOLEAN, value ? 1 : 0);
  if (typeof value === 'string') return encodeString(value);
  if (value instanceof Date)
    return Buffer.concat([encodeNumber(DATE, value.getTime()), Buffer.alloc(2)]);
  if (isArray(value)) {
    return Buffer.concat([withCount(STRICT_ARRAY, value.length), ...value.map(encode)]);
  }
  const members = Object.entries(value).flatMap(([name, member]) => [
    encodeShortString(name),
    encode(member),
  ]);
  return Buffer.concat([Uint8Array.of(OBJECT), ...members, Uint8Array.of(0, 0, OBJECT_END)]);
}

function isArray(value: readonly AmfValue[] | AmfObject): value is readonly AmfValue[] {
  return Array.isArray(value);
}

function encodeNumber(type: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(9);
  bytes[0] = type;
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

function encodeString(value: string): Uint8Array {
  const length = Buffer.byteLength(value);
  if (length <= 0xffff) return Buffer.concat([Uint8Array.of(STRING), encodeShortString(value)]);
  return Buffer.concat([withCount(LONG_STRING, length), Buffer.from(value)]);
}

function encodeShortString(value: string): Uint8Array {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function withCount(type: number, count: number): Uint8Array {
  const bytes = Buffer.alloc(5);
  bytes[0] = type;
  bytes.writeUInt32BE(count, 1);
  return bytes;
}
