import { ByteQueue, concatBytes } from '../byte-queue.ts';
import type { ContainerReader, SourceUnit } from './container.ts';
import {
  PACKET_BYTES,
  type Packet,
  presentationTicks,
  readPacket,
  SYNC_BYTE,
  TICKS_PER_MS,
  WRAP_TICKS,
} from './mpegts-packet.ts';
import { ProgramReader } from './mpegts-program.ts';
import { ReceivedMedia } from './received-media.ts';

/** Consecutive sync bytes that are required to resynchronize. */
const PACKETS_IN_SYNC = 3;
/** Skipped bytes after which the input is not MPEG-TS. */
const MAX_SKIPPED_BYTES = 64 * 1024;
/** Packets in sync after which the count of skipped bytes restarts. */
const PACKETS_OF_STABLE_SYNC = 100;
/** Bytes without a program before an error; tables are usually sent ten times a second. */
const MAX_BYTES_WITHOUT_PROGRAM = 4 * 1024 * 1024;
/** Frames without a random access indicator after which the sender is assumed to set none: 10 s or more. */
const FRAMES_WITHOUT_RANDOM_ACCESS = 300;

/** A source that starts within 60 s before a wrap starts below 0, as in ffmpeg. */
const NEAR_WRAP_TICKS = 60_000 * TICKS_PER_MS;

/** Period after which MPEG-TS timestamps wrap: 26.5 h. */
export const MPEGTS_WRAP_MS = WRAP_TICKS / TICKS_PER_MS;

/** Properties of the unit that a packet starts. */
type UnitInfo = Omit<SourceUnit, 'bytes'>;

const PLAIN_UNIT: UnitInfo = { isHeader: false, isEntryPoint: false, sourceMs: null };
const HEADER_UNIT: UnitInfo = { isHeader: true, isEntryPoint: false, sourceMs: null };

interface PacketRun {
  readonly info: UnitInfo;
  readonly packets: Uint8Array[];
}

/**
 * Reads MPEG-TS (ISO/IEC 13818-1). Units are runs of packets; their boundaries depend on the chunks,
 * but every table and every frame starts a unit. Bytes outside of packets are skipped. Times are those
 * of the first video stream, or of all streams without one, unwrapped.
 */
export class MpegTsReader implements ContainerReader {
  private readonly queue = new ByteQueue();
  private packetsInSync = 0;
  private skippedBytes = 0;
  private bytesWithoutProgram = 0;

  private readonly program = new ProgramReader();

  readonly received = new ReceivedMedia();
  private lastTicks: number | null = null;
  private frameCount = 0;
  private hasRandomAccess = false;

  push(bytes: Uint8Array): SourceUnit[] {
    this.queue.push(bytes);
    const runs: PacketRun[] = [];
    for (let packet = this.nextPacket(); packet; packet = this.nextPacket()) {
      const info = this.inspect(packet, readPacket(packet));
      const lastRun = runs.at(-1);
      if (info || !lastRun || lastRun.info.isHeader)
        runs.push({ info: info ?? PLAIN_UNIT, packets: [packet] });
      else lastRun.packets.push(packet);
    }
    return runs.map(({ info, packets }) => ({ ...info, bytes: concatBytes(packets) }));
  }

  header(): Uint8Array {
    return concatBytes([this.program.patPackets, this.program.pmtPackets]);
  }

  private nextPacket(): Uint8Array | null {
    if (this.packetsInSync === 0 && !this.findSync()) return null;
    if (this.queue.length < PACKET_BYTES) return null;
    if (this.queue.peek()[0] !== SYNC_BYTE) {
      this.packetsInSync = 0;
      return this.nextPacket();
    }
    this.packetsInSync++;
    if (this.packetsInSync > PACKETS_OF_STABLE_SYNC) this.skippedBytes = 0;
    return this.queue.take(PACKET_BYTES);
  }

  /** Skips to the next packet in sync. @returns whether one was found */
  private findSync(): boolean {
    const buffered = this.queue.peek();
    const needed = (PACKETS_IN_SYNC - 1) * PACKET_BYTES;
    let offset = 0;
    while (offset + needed < buffered.length && !isInSync(buffered, offset)) offset++;
    const isFound = offset + needed < buffered.length;
    this.queue.drop(offset);
    this.skippedBytes += offset;
    if (this.skippedBytes > MAX_SKIPPED_BYTES) throw new Error('this is not MPEG-TS');
    return isFound;
  }

  /** Properties of the unit that this packet starts; null when it continues the current unit. */
  private inspect(bytes: Uint8Array, packet: Packet): UnitInfo | null {
    if (!this.program.streams) {
      this.bytesWithoutProgram += bytes.length;
      if (this.bytesWithoutProgram > MAX_BYTES_WITHOUT_PROGRAM) {
        throw new Error('the MPEG-TS has no program');
      }
    }
    if (this.program.push(bytes)) {
      if (this.program.streams) this.bytesWithoutProgram = 0;
      return HEADER_UNIT;
    }
    if (!packet.startsPayloadUnit) return null;
    this.addKind(packet.pid);
    if (!this.carriesTimes(packet.pid)) return null;
    this.frameCount++;
    if (packet.isRandomAccess) this.hasRandomAccess = true;
    const isEntryPoint =
      packet.isRandomAccess ||
      (!this.hasRandomAccess && this.frameCount > FRAMES_WITHOUT_RANDOM_ACCESS);
    const ticks = presentationTicks(bytes, packet.content);
    return {
      isHeader: false,
      isEntryPoint,
      sourceMs: ticks === null ? null : this.unwrapMs(ticks),
    };
  }

  private addKind(pid: number): void {
    if (pid === this.program.streams?.video) this.received.add('video');
    else if (this.program.streams?.audio.has(pid)) this.received.add('audio');
    // Of an unknown type.
    else if (this.carriesTimes(pid)) this.received.count++;
  }

  private carriesTimes(pid: number): boolean {
    const { streams } = this.program;
    if (!streams) return false;
    const { video, all } = streams;
    return video === null ? all.has(pid) : pid === video;
  }

  private unwrapMs(raw: number): number {
    const last = this.lastTicks ?? (raw < WRAP_TICKS - NEAR_WRAP_TICKS ? raw : 0);
    this.lastTicks = raw + Math.round((last - raw) / WRAP_TICKS) * WRAP_TICKS;
    return this.lastTicks / TICKS_PER_MS;
  }
}

function isInSync(bytes: Uint8Array, offset: number): boolean {
  for (let packet = 0; packet < PACKETS_IN_SYNC; packet++) {
    if (bytes[offset + packet * PACKET_BYTES] !== SYNC_BYTE) return false;
  }
  return true;
}
