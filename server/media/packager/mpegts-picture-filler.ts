import { concatBytes } from '../byte-queue.ts';
import type { SourceUnit } from '../container/container.ts';
import {
  decodingTicks,
  PACKET_BYTES,
  type Packet,
  presentationTicks,
  readPacket,
  setContinuityCounter,
  setPesTicks,
  TICKS_PER_MS,
  ticksBetween,
  WRAP_TICKS,
} from '../container/mpegts-packet.ts';
import { ProgramReader } from '../container/mpegts-program.ts';
import {
  GROUP_BYTES_MAX,
  MISSING_MS,
  type PictureFiller,
  REPEAT_MS,
  type RepetitionLimit,
} from './picture-filler.ts';

/**
 * Repeats the last group of pictures of an MPEG-TS source. Its packets are sent again with the time that the
 * audio has reached, without clock references, and with continuity counters that go on.
 */
export class MpegTsPictureFiller implements PictureFiller {
  private readonly program = new ProgramReader();
  /** Packets of the video since the last key frame. */
  private pictures: Uint8Array[] = [];
  /** How many of these are the key frame; null while it is not complete. */
  private keyFramePackets: number | null = null;
  /** Whether there are too many packets: those of the key frame are kept. */
  private isKeyFrameAlone = false;
  /** Times of the last picture and of the audio that came before it, in ticks. */
  private videoTicks = 0;
  private audioTicksAtVideo: number | null = null;
  private audioTicks: number | null = null;
  /** Audio time of the next repetition, in ticks. */
  private repeatAtTicks = 0;
  /** Counter of the last video packet sent, and what repetitions add to those of the source. */
  private counter = 0;
  private counterOffset = 0;

  constructor(private readonly mayRepeat: RepetitionLimit) {}

  fill(units: readonly SourceUnit[]): SourceUnit[] {
    return units.flatMap((unit) => {
      if (unit.isHeader) {
        this.program.push(unit.bytes);
        return [unit];
      }
      const repetition = this.repeatAfter(unit);
      return repetition ? [unit, repetition] : [unit];
    });
  }

  private repeatAfter({ bytes, isEntryPoint }: SourceUnit): SourceUnit | null {
    const { streams } = this.program;
    if (streams === null || streams.video === null) return null;
    let repetition: SourceUnit | null = null;
    for (let start = 0; start + PACKET_BYTES <= bytes.length; start += PACKET_BYTES) {
      const bytesOfPacket = bytes.subarray(start, start + PACKET_BYTES);
      const packet = readPacket(bytesOfPacket);
      if (packet.pid === streams.video) {
        this.addVideo(bytesOfPacket, packet, isEntryPoint && start === 0);
      } else if (packet.startsPayloadUnit && streams.audio.has(packet.pid)) {
        const ticks = presentationTicks(bytesOfPacket, packet.content);
        if (ticks !== null) repetition = this.repeat(ticks) ?? repetition;
      }
    }
    return repetition;
  }

  private addVideo(bytes: Uint8Array, packet: Packet, isKeyFrame: boolean): void {
    this.counter = ((bytes[3] ?? 0) + this.counterOffset) & 0x0f;
    setContinuityCounter(bytes, this.counter);
    if (isKeyFrame) this.clear();
    const ticks = packet.startsPayloadUnit ? decodingTicks(bytes, packet.content) : null;
    if (ticks !== null) {
      this.videoTicks = ticks;
      this.audioTicksAtVideo = this.audioTicks;
      this.repeatAtTicks = ((this.audioTicks ?? 0) + MISSING_MS * TICKS_PER_MS) % WRAP_TICKS;
    }
    if (this.isKeyFrameAlone || (!isKeyFrame && this.pictures.length === 0)) return;
    if (packet.startsPayloadUnit && this.pictures.length > 0) {
      this.keyFramePackets ??= this.pictures.length;
    }
    this.pictures.push(bytes.slice());
    if (this.pictures.length * PACKET_BYTES <= GROUP_BYTES_MAX) return;
    this.isKeyFrameAlone = true;
    this.pictures.length = this.keyFramePackets ?? 0;
  }

  private clear(): void {
    this.pictures = [];
    this.keyFramePackets = null;
    this.isKeyFrameAlone = false;
  }

  private repeat(audioTicks: number): SourceUnit | null {
    this.audioTicks = audioTicks;
    const { audioTicksAtVideo } = this;
    if (audioTicksAtVideo === null || this.pictures.length === 0) return null;
    if (ticksBetween(this.repeatAtTicks, audioTicks) < 0 || !this.mayRepeat()) return null;
    this.repeatAtTicks = (audioTicks + REPEAT_MS * TICKS_PER_MS) % WRAP_TICKS;
    const ticks = this.videoTicks + ticksBetween(audioTicksAtVideo, audioTicks);
    const before = this.counter;
    const packets = this.pictures.map((picture) => this.repeated(picture, ticks));
    this.counterOffset += this.counter - before;
    return { bytes: concatBytes(packets), isHeader: false, isEntryPoint: true, sourceMs: null };
  }

  private repeated(picture: Uint8Array, ticks: number): Uint8Array {
    const bytes = picture.slice();
    const { content, startsPayloadUnit } = readPacket(bytes);
    if (content < PACKET_BYTES) this.counter = (this.counter + 1) & 0x0f;
    setContinuityCounter(bytes, this.counter);
    removeClock(bytes);
    if (startsPayloadUnit) setPesTicks(bytes, content, ticks);
    return bytes;
  }
}

/** Leaves only the random access indicator of an adaptation field; the rest counts as stuffing. */
function removeClock(bytes: Uint8Array): void {
  const hasAdaptation = ((bytes[3] ?? 0) & 0x20) !== 0;
  if (hasAdaptation && (bytes[4] ?? 0) > 0) bytes[5] = (bytes[5] ?? 0) & 0x40;
}
