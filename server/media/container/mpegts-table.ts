import { concatBytes } from '../byte-queue.ts';
import { PACKET_BYTES } from './mpegts-packet.ts';

/** A table has at most 1,024 bytes: six packets, plus one when it starts after another table. */
const MAX_TABLE_PACKETS = 7;

/** A complete table section. */
export interface Table {
  /** Bytes from table id to CRC. */
  readonly section: Uint8Array;
  readonly packets: Uint8Array;
}

/** Assembles the table of one PID from packets (ISO/IEC 13818-1, 2.4.4). */
export class TableReader {
  private packets: Uint8Array[] = [];
  private section: Uint8Array[] = [];

  /** @param tableId 0 for the PAT, 2 for a PMT */
  constructor(private readonly tableId: number) {}

  /** @param content payload offset of the packet @returns the table when it is complete */
  push(packet: Uint8Array, startsPayloadUnit: boolean, content: number): Table | null {
    if (content >= PACKET_BYTES) return null;
    if (startsPayloadUnit) {
      this.packets = [packet];
      this.section = [packet.subarray(content + 1 + (packet[content] ?? 0))];
    } else if (this.packets.length > 0 && this.packets.length < MAX_TABLE_PACKETS) {
      this.packets.push(packet);
      this.section.push(packet.subarray(content));
    } else {
      return null;
    }
    return this.completeTable();
  }

  private completeTable(): Table | null {
    const bytes = concatBytes(this.section);
    const length = 3 + ((((bytes[1] ?? 0) & 0x0f) << 8) | (bytes[2] ?? 0));
    if (bytes.length < 3 || bytes.length < length) return null;
    const packets = concatBytes(this.packets);
    this.packets = [];
    const section = bytes.subarray(0, length);
    const isValid = bytes[0] === this.tableId && length >= 12 && crc32(section) === 0;
    return isValid ? { section, packets } : null;
  }
}

/** PID of the first program's PMT; null without a program. */
export function firstPmtPid({ section }: Table): number | null {
  for (let offset = 8; offset + 4 <= section.length - 4; offset += 4) {
    const number = uint16(section, offset);
    if (number !== 0) return uint16(section, offset + 2) & 0x1fff;
  }
  return null;
}

/** PIDs of a program's streams. */
export interface ProgramStreams {
  /** First video stream; null without one. */
  readonly video: number | null;
  readonly audio: ReadonlySet<number>;
  readonly all: ReadonlySet<number>;
}

/** Video stream types: MPEG-1, MPEG-2, MPEG-4, H.264, H.265, VVC (2.4.4.9). */
const VIDEO_TYPES: ReadonlySet<number> = new Set([0x01, 0x02, 0x10, 0x1b, 0x24, 0x33]);

/**
 * Audio stream types: MPEG-1, MPEG-2, AAC, AC-3, E-AC-3, and private data, which may be audio such as
 * Opus.
 */
const AUDIO_TYPES: ReadonlySet<number> = new Set([0x03, 0x04, 0x06, 0x0f, 0x11, 0x81, 0x87]);

export function programStreams({ section }: Table): ProgramStreams {
  let video: number | null = null;
  const audio = new Set<number>();
  const all = new Set<number>();
  let offset = 12 + (uint16(section, 10) & 0x0fff);
  while (offset + 5 <= section.length - 4) {
    const pid = uint16(section, offset + 1) & 0x1fff;
    if (VIDEO_TYPES.has(section[offset] ?? 0)) video ??= pid;
    if (AUDIO_TYPES.has(section[offset] ?? 0)) audio.add(pid);
    all.add(pid);
    offset += 5 + (uint16(section, offset + 3) & 0x0fff);
  }
  return { video, audio, all };
}

function uint16(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

/** CRC-32 of annex A; 0 over a section that includes a correct CRC. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1;
  }
  return crc >>> 0;
}
