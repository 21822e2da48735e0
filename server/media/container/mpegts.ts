import { ByteQueue, joined } from '../byte-queue.ts';
import type { ContainerReader, SourceUnit } from './container.ts';
import {
  PACKET_BYTES,
  type Packet,
  presentationTicks,
  readPacket,
  SYNC_BYTE,
} from './mpegts-packet.ts';
import { firstProgram, type ProgramStreams, programStreams, TableReader } from './mpegts-table.ts';

/** How many packets must follow each other for one to be believed after a loss. */
const PACKETS_IN_STEP = 3;
/** What may be lost before this is not MPEG-TS at all. */
const MAX_LOST_BYTES = 64 * 1024;
/** After so many packets in step, what was lost before is forgotten. */
const PACKETS_OF_TRUST = 100;
/** Tables come ten times a second; without one in so many bytes nobody can decode this. */
const MAX_BYTES_WITHOUT_PROGRAM = 4 * 1024 * 1024;
/** A sender that marks no picture among so many never does: ten seconds and more. */
const PICTURES_WITHOUT_MARK = 300;

const PROGRAMS_PID = 0;
const PROGRAMS_TABLE = 0;
const STREAMS_TABLE = 2;
const TICKS_PER_MS = 90;
const WRAP_TICKS = 2 ** 33;
/** A source that begins this shortly before a wrap begins before 0, as ffmpeg sees it: 60 s. */
const SOON_TICKS = 60_000 * TICKS_PER_MS;

/** After so long the times of MPEG-TS begin again from 0: 26.5 h. */
export const MPEGTS_WRAP_MS = WRAP_TICKS / TICKS_PER_MS;

/** What begins with a packet. */
type Mark = Omit<SourceUnit, 'bytes'>;

const PLAIN: Mark = { isHeader: false, isJoin: false, sourceMs: null };
const HEADER: Mark = { isHeader: true, isJoin: false, sourceMs: null };

interface Run {
  readonly mark: Mark;
  readonly packets: Uint8Array[];
}

/**
 * Follows MPEG-TS (ISO/IEC 13818-1). Units are runs of packets; where they are cut depends on the
 * chunks, but every table, and every picture, begins one. Bytes that are in no packet are left out.
 * The times are those of the first video stream, or of all streams if there is none. They go on
 * rising when those of the source begin again after 26.5 h.
 */
export class MpegTsReader implements ContainerReader {
  private readonly queue = new ByteQueue();
  private inStep = 0;
  private lostBytes = 0;
  private bytesWithoutProgram = 0;

  private readonly programs = new TableReader(PROGRAMS_TABLE);
  private programPid: number | null = null;
  private streamsTable = new TableReader(STREAMS_TABLE);
  private streams: ProgramStreams | null = null;
  private programPackets: Uint8Array = new Uint8Array(0);
  private streamPackets: Uint8Array = new Uint8Array(0);

  private lastTicks: number | null = null;
  private pictures = 0;
  private hasMarks = false;

  push(bytes: Uint8Array): SourceUnit[] {
    this.queue.push(bytes);
    const runs: Run[] = [];
    for (let packet = this.nextPacket(); packet; packet = this.nextPacket()) {
      const mark = this.markOf(packet, readPacket(packet));
      const last = runs.at(-1);
      if (mark || !last || last.mark.isHeader)
        runs.push({ mark: mark ?? PLAIN, packets: [packet] });
      else last.packets.push(packet);
    }
    return runs.map(({ mark, packets }) => ({ ...mark, bytes: joined(packets) }));
  }

  header(): Uint8Array {
    return joined([this.programPackets, this.streamPackets]);
  }

  private nextPacket(): Uint8Array | null {
    if (this.inStep === 0 && !this.findStep()) return null;
    if (this.queue.length < PACKET_BYTES) return null;
    if (this.queue.peek()[0] !== SYNC_BYTE) {
      this.inStep = 0;
      return this.nextPacket();
    }
    this.inStep++;
    if (this.inStep > PACKETS_OF_TRUST) this.lostBytes = 0;
    return this.queue.take(PACKET_BYTES);
  }

  /** Leaves out what is before the next packet that others follow. @returns whether there is one */
  private findStep(): boolean {
    const waiting = this.queue.peek();
    const needed = (PACKETS_IN_STEP - 1) * PACKET_BYTES;
    let at = 0;
    while (at + needed < waiting.length && !isInStep(waiting, at)) at++;
    const isFound = at + needed < waiting.length;
    this.queue.drop(at);
    this.lostBytes += at;
    if (this.lostBytes > MAX_LOST_BYTES) throw new Error('this is no MPEG-TS');
    return isFound;
  }

  /** What begins with this packet; null: it belongs to what is before it. */
  private markOf(bytes: Uint8Array, packet: Packet): Mark | null {
    if (!this.streams) {
      this.bytesWithoutProgram += bytes.length;
      if (this.bytesWithoutProgram > MAX_BYTES_WITHOUT_PROGRAM) {
        throw new Error('this MPEG-TS has no program');
      }
    }
    if (packet.pid === PROGRAMS_PID) return this.takePrograms(bytes, packet);
    if (packet.pid === this.programPid) return this.takeStreams(bytes, packet);
    if (!packet.startsUnit || !this.isTimed(packet.pid)) return null;
    this.pictures++;
    if (packet.isRandomAccess) this.hasMarks = true;
    const isJoin =
      packet.isRandomAccess || (!this.hasMarks && this.pictures > PICTURES_WITHOUT_MARK);
    const ticks = presentationTicks(bytes, packet.content);
    return { isHeader: false, isJoin, sourceMs: ticks === null ? null : this.unwrappedMs(ticks) };
  }

  private takePrograms(bytes: Uint8Array, { startsUnit, content }: Packet): Mark {
    const table = this.programs.push(bytes, startsUnit, content);
    if (table) {
      this.programPackets = table.packets;
      const pid = firstProgram(table);
      if (pid !== this.programPid) {
        this.programPid = pid;
        this.streamsTable = new TableReader(STREAMS_TABLE);
        this.streams = null;
      }
    }
    return HEADER;
  }

  private takeStreams(bytes: Uint8Array, { startsUnit, content }: Packet): Mark {
    const table = this.streamsTable.push(bytes, startsUnit, content);
    if (table) {
      this.streamPackets = table.packets;
      this.streams = programStreams(table);
      this.bytesWithoutProgram = 0;
    }
    return HEADER;
  }

  private isTimed(pid: number): boolean {
    if (!this.streams) return false;
    const { video, all } = this.streams;
    return video === null ? all.has(pid) : pid === video;
  }

  private unwrappedMs(raw: number): number {
    const last = this.lastTicks ?? (raw < WRAP_TICKS - SOON_TICKS ? raw : 0);
    this.lastTicks = raw + Math.round((last - raw) / WRAP_TICKS) * WRAP_TICKS;
    return this.lastTicks / TICKS_PER_MS;
  }
}

function isInStep(bytes: Uint8Array, at: number): boolean {
  for (let packet = 0; packet < PACKETS_IN_STEP; packet++) {
    if (bytes[at + packet * PACKET_BYTES] !== SYNC_BYTE) return false;
  }
  return true;
}
