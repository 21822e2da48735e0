import { joined } from '../byte-queue.ts';
import { PACKET_BYTES } from './mpegts-packet.ts';

/** A table has 1,024 bytes at most: six packets, and one more where another table is before it. */
const MAX_TABLE_PACKETS = 7;

/** A table that was read whole. */
export interface Table {
  /** From its table id to its checksum. */
  readonly section: Uint8Array;
  /** The packets that it came in. */
  readonly packets: Uint8Array;
}

/** Puts the table of one packet identifier together (ISO/IEC 13818-1, 2.4.4). */
export class TableReader {
  private packets: Uint8Array[] = [];
  private section: Uint8Array[] = [];

  /** @param tableId that is looked for: 0 programs, 2 streams of a program */
  constructor(private readonly tableId: number) {}

  /** @param content where the packet's content begins @returns a table that is whole now */
  push(packet: Uint8Array, startsUnit: boolean, content: number): Table | null {
    if (content >= PACKET_BYTES) return null;
    if (startsUnit) {
      this.packets = [packet];
      this.section = [packet.subarray(content + 1 + (packet[content] ?? 0))];
    } else if (this.packets.length > 0 && this.packets.length < MAX_TABLE_PACKETS) {
      this.packets.push(packet);
      this.section.push(packet.subarray(content));
    } else {
      return null;
    }
    return this.whole();
  }

  private whole(): Table | null {
    const bytes = joined(this.section);
    const length = 3 + ((((bytes[1] ?? 0) & 0x0f) << 8) | (bytes[2] ?? 0));
    if (bytes.length < 3 || bytes.length < length) return null;
    const packets = joined(this.packets);
    this.packets = [];
    const section = bytes.subarray(0, length);
    const isIt = bytes[0] === this.tableId && length >= 12 && checksum(section) === 0;
    return isIt ? { section, packets } : null;
  }
}

/** @returns the packet identifier of the first program's own table; null without a program */
export function firstProgram({ section }: Table): number | null {
  for (let at = 8; at + 4 <= section.length - 4; at += 4) {
    const number = uint16(section, at);
    if (number !== 0) return uint16(section, at + 2) & 0x1fff;
  }
  return null;
}

/** The streams of a program: packet identifiers. */
export interface ProgramStreams {
  /** The first that is video; null without one. */
  readonly video: number | null;
  readonly all: ReadonlySet<number>;
}

/** Stream types that are video: MPEG-1, MPEG-2, MPEG-4, H.264, H.265, VVC (2.4.4.9). */
const VIDEO_TYPES: ReadonlySet<number> = new Set([0x01, 0x02, 0x10, 0x1b, 0x24, 0x33]);

export function programStreams({ section }: Table): ProgramStreams {
  let video: number | null = null;
  const all = new Set<number>();
  let at = 12 + (uint16(section, 10) & 0x0fff);
  while (at + 5 <= section.length - 4) {
    const pid = uint16(section, at + 1) & 0x1fff;
    if (VIDEO_TYPES.has(section[at] ?? 0)) video ??= pid;
    all.add(pid);
    at += 5 + (uint16(section, at + 3) & 0x0fff);
  }
  return { video, all };
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** CRC-32 of annex A; 0 over a section with its own checksum. */
function checksum(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1;
  }
  return crc >>> 0;
}
